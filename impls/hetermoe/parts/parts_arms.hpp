// The arms of the figures on parts of one GPU: groups of them, differently dealt, that take one and
// the same step.
#pragma once

#include <vector>

#include "impls/hetermoe/parts/parts_training.hpp"
#include "impls/hetermoe/policy/profile.hpp"
#include "impls/hetermoe/simulated/arms.hpp"

namespace assay::hetermoe {

struct PartsMeasurement : ArmResult {  // of parts that stand for GPUs
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
PartsMeasurement measure_arm(Arm arm, const nn::MoeGptConfig& model, at::Device device,
                             std::vector<Part> parts, const Group& group, int batch, int steps);

}  // namespace assay::hetermoe
