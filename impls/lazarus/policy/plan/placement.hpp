// Where the replicas go: maximum rank overlap (paper section 4.1), the two placements the paper
// compares with (section 6.3), and the plan of all layers.
#pragma once

#include <span>
#include <vector>

#include "impls/lazarus/policy/types.hpp"

namespace assay::lazarus {

/// Places `replicas` on `nodes` nodes with `slots` slots each.
///   mro:     maximum rank overlap as published (mro.hpp).
///   spread:  round-robin over the nodes in index order of the experts, one running cursor.
///   compact: nodes filled one after the other in index order of the experts.
///   mro_guarded: mro where it is optimal, repaired where it is not (beyond/guarded_placement.hpp).
/// `loads` only breaks ties of mro and mro_guarded; it may be empty.
/// Throws UserError when replicas are below 1, do not sum to nodes · slots, or shapes are wrong.
Placement place(PlacementPolicy policy, const Replicas& replicas, int nodes, int slots,
                std::span<const Tokens> loads = {});

/// Throws UserError as place() does.
void check_placement(const Replicas& replicas, int nodes, int slots, std::span<const Tokens> loads);

/// Allocation and placement of every MoE layer: what the controller asks for at each
/// reconfiguration.
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
