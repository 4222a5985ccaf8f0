// The arms of the figures on parts of one GPU: groups of them, differently dealt, that take one and
// the same step.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "impls/hetermoe/parts/parts_training.hpp"
#include "impls/hetermoe/policy/profile.hpp"

namespace assay::hetermoe {

struct PartsMeasurement {
    double tokens_per_s = 0;
    std::optional<double> new_busy, old_busy;  ///< share of the step in which a part computes
    int micro_batches = 1;                     ///< R, the best
    double moved = 0;                          ///< share of experts on new parts
    /// What both kinds really are: time on an old part over that on a new one, both at work on a
    /// layer of the same model at once, forward.
    double attention_ratio = 0, experts_ratio = 0;
};

/// parts: group.attention new ones, then group.expert old ones. `batch`: sequences of a step for
/// each new part, equal for all arms.
///   zebra     Theorem 1's order, no experts on new parts
///   hetermoe  the same, with as many there as Algorithm 1 moves by what was measured first
///   dist_ep   one micro-batch: attention and experts take turns
///   ep        every part has experts and attention, one micro-batch after the other or several
///             side by side, whichever is faster
///   ep_ideal  the same with both kinds apart, half of the batch for each; their rates are added
/// The number of micro-batches is the best of those that divide the batch and fit into memory, for
/// each arm. Of ep and ep_ideal every part has equally many sequences, one at least: its share of
/// the batch, rounded; rates are per sequence. They have no more micro-batches than that. Throws
/// SampleError (failed) where a loss is not finite or no number of micro-batches fits,
/// std::invalid_argument for another arm.
PartsMeasurement measure_arm(std::string_view arm, const nn::MoeGptConfig& model, at::Device device,
                             std::vector<Part> parts, const Group& group, int batch, int steps);

}  // namespace assay::hetermoe
