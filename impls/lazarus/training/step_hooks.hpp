// What a training step tells whoever watches it: fault points, pacing.
#pragma once

#include <functional>
#include <span>

#include "impls/lazarus/policy/types.hpp"

namespace assay::lazarus {

struct StepHooks {
    /// In the order of a step: per layer attention (the gate included), dispatched (this rank's
    /// tokens have arrived), computed (experts), combined; then forward (logits and loss), backward
    /// (its exchanges included), reduced (all gradient sums). layer is -1 for the last three.
    enum class Phase { attention, dispatched, computed, combined, forward, backward, reduced };
    std::function<void(Phase, int layer)> done;
    /// The tokens of a layer are counted, before they are dispatched: [experts][ranks], row-major;
    /// equal on every rank.
    std::function<void(int layer, std::span<const Tokens> tokens)> counted;
};

}  // namespace assay::lazarus
