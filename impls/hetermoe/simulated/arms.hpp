// The arms of the paper's figures at one point, each with its best number of micro-batches, order
// or split: HeterMoE and its variants by their timeline, rivals by what their phases take. All
// share the batch, task times and memory; gradients are summed behind the backward pass in every
// arm.
#pragma once

#include <optional>
#include <vector>

#include "impls/hetermoe/simulated/point.hpp"

namespace assay::hetermoe {

/// zebra: no experts move; hetermoe: as Algorithm 1 has it; search: the best offload that was
/// found. ep: expert parallelism over all GPUs; dist_ep: attention on new GPUs, experts on old
/// ones, one after the other; ep_ideal: both kinds apart, added; pp: pipelines of both kinds.
/// Peers: ep_uneven: shares by speed (HAP); balance: two pools of any GPUs that take equally long
/// (DisagMoE).
enum class Arm { zebra, hetermoe, search, ep, dist_ep, ep_ideal, pp, ep_uneven, balance };
ASSAY_NAMES(Arm, zebra, hetermoe, search, ep, dist_ep, ep_ideal, pp, ep_uneven, balance)

struct ArmResult {
    double tokens_per_s = 0;
    std::optional<double> new_busy, old_busy;  ///< share of the step in which a GPU computes
    int micro_batches = 1;                     ///< R, the best
    double moved = 0;                          ///< share of experts on new GPUs
    std::vector<int> offload = {};  ///< of groups that alternate: moved by every old GPU, by layer
};

/// Nothing where it does not fit into memory, or experts do not divide. Throws UserError for an arm
/// that has no version with flows where point.flows is there.
std::optional<ArmResult> run_arm(const Point& point, Arm arm);

/// Whether it has a version with flows: zebra, hetermoe, search, ep, dist_ep, ep_ideal.
bool has_flows_version(Arm arm);

}  // namespace assay::hetermoe
