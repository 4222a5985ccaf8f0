// One layer planned for the user, as a value and as text or JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "impls/lazarus/policy/allocation.hpp"
#include "impls/lazarus/policy/guarded_placement.hpp"
#include "impls/lazarus/policy/recovery.hpp"
#include "impls/lazarus/policy/types.hpp"

namespace assay::lazarus {

struct LayerPlanRequest {
    Loads loads;
    int nodes = 0;
    int slots = 0;
    int min_replicas = 2;
    PlacementPolicy policy = PlacementPolicy::mro;
    std::uint64_t seed = 1;  ///< of the Monte Carlo estimate, where one is needed
};

/// What a guarded plan is held against: the same replicas placed by mro and by spread.
struct GuardedComparison {
    bool dominates = false;  ///< see GuardedPlacement
    GuardedSource source = GuardedSource::mro;
    bool last_group_cut = false;  ///< of mro: see mro_truncated()
    RecoveryCurve mro, spread;
};

struct LayerPlan {
    LayerPlanRequest request;
    Allocation allocation;
    Placement placement;
    RecoveryCurve recovery;
    bool last_group_cut = false;               ///< mro only: see mro_truncated()
    std::optional<GuardedComparison> guarded;  ///< mro_guarded only
};

/// Throws UserError when the request is infeasible or out of range (at most 65,536 nodes, 1,024
/// slots, 16,384 experts).
LayerPlan plan_layer(LayerPlanRequest request);

/// {"replicas","nodes","recovery","recovery_method","recovery_error","min_replicas_used","placement"}
/// and for mro_guarded "dominates": true or false, as in GuardedPlacement.
nlohmann::json to_json(const LayerPlan& plan);

/// Tables for reading. Runs of equal nodes share a line; long recovery curves are thinned. For
/// mro_guarded the curves of mro and spread stand beside the plan's own.
std::string to_text(const LayerPlan& plan);

}  // namespace assay::lazarus
