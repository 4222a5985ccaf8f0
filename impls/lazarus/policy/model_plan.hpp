// Allocation and placement of every MoE layer: what the controller asks for at each
// reconfiguration.
#pragma once

#include <span>
#include <vector>

#include "impls/lazarus/policy/types.hpp"

namespace assay::lazarus {

struct ModelPlan {
    ModelPlacement placement;        ///< [layer][plan node]
    std::vector<Replicas> replicas;  ///< [layer][expert]
    int min_replicas_used = 0;       ///< f after relaxation; equal in all layers
};

/// Plans each layer on its own from its loads (one entry per layer; all layers have the same number
/// of experts). Plan nodes keep their order across layers, so cold groups of different layers lie
/// on the same nodes. Throws UserError as allocate() and place() do, and when there is no layer or
/// the layers differ in experts.
ModelPlan make_model_plan(std::span<const Loads> loads, int nodes, int slots, int min_replicas,
                          PlacementPolicy policy);

/// Loads before any history is there: every expert alike.
std::vector<Loads> uniform_loads(int layers, int experts);

}  // namespace assay::lazarus
