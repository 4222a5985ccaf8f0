// What is known of two kinds of GPUs and of a model before anything is planned: a profile.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "impls/hetermoe/policy/fraction.hpp"

namespace assay::hetermoe {

using Nanoseconds = std::int64_t;

/// One kind of GPU. Forward times, for one micro-batch of one GPU.
struct GpuKind {
    int gpus = 0;
    std::optional<Nanoseconds> attention;  ///< attention and gate of a layer; old GPUs: may be none
    Nanoseconds expert = 0;                ///< its k·P rows through experts
    Nanoseconds head = 0;                  ///< the last stage: final norm, output head, loss
    std::optional<std::int64_t> capacity;  ///< experts that a GPU holds, all layers; none: any
};

struct TrainingProfile {
    int layers = 0;                  ///< with experts; the paper's L is one more
    int experts = 0;                 ///< of a layer
    std::vector<int> micro_batches;  ///< values of R to try, ascending
    GpuKind new_kind, old_kind;      ///< new_kind.attention is there
    Nanoseconds exchange = 0;        ///< a GPU's k·P rows over a link, one way
    Fraction ep_exposed{1};          ///< share of its exchanges that expert parallelism waits for
    Nanoseconds dense_sync = 0;      ///< dense gradients once over a link
    Nanoseconds expert_sync = 0;     ///< one expert's gradients once over a link
};

/// A zebra group: M new GPUs, which compute attention, and N old ones, which hold experts.
struct Group {
    int attention = 0;  ///< M
    int expert = 0;     ///< N
    bool operator==(const Group&) const = default;
};

}  // namespace assay::hetermoe
