// The layers of a job planned for the user: each by itself, and what a loss does to all of them
// together. As values, as JSON, and as the text that `assay plan lazarus` prints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "impls/lazarus/policy/beyond/guarded_placement.hpp"
#include "impls/lazarus/policy/plan/allocation.hpp"
#include "impls/lazarus/policy/plan/recovery_probability.hpp"
#include "impls/lazarus/policy/types.hpp"

namespace assay::lazarus {

struct LayerPlanRequest {
    Loads loads;
    int nodes = 0;
    int slots = 0;  ///< per node, of this layer
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

/// Every layer planned by itself; node i is the same machine in all of them.
struct JobPlan {
    std::vector<LayerPlan> layers;  ///< at least one
    /// Every expert of every layer survives. The layers lie on the same nodes, so this is no
    /// product of theirs.
    RecoveryCurve recovery;
    /// mro_guarded only: the same for the same replicas placed by mro and by spread. That each
    /// layer's plan dominates theirs does not mean that all together do.
    std::optional<RecoveryCurve> mro, spread;
};

/// `request.loads` is not read. Throws UserError as plan_layer() does, also for
/// more than 16,384 experts in all layers together.
JobPlan plan_job(const std::vector<Loads>& layers, const LayerPlanRequest& request);

/// {"replicas","nodes","recovery","recovery_method","recovery_error","min_replicas_used","placement"}
/// and for mro_guarded "dominates": true or false, as in GuardedPlacement.
nlohmann::json to_json(const LayerPlan& plan);

/// A job of one layer: as that layer. Any: "recovery", "recovery_method" and "recovery_error" are
/// of all layers together, "recovery_says" is a sentence about them; "placement";
/// "min_replicas_used", the least of any layer; "layers": [as above, with "layer" and "loads"]; for
/// mro_guarded with several layers "recovery_mro" and "recovery_spread".
nlohmann::json to_json(const JobPlan& plan);

/// How a curve was found: "exact", or "Monte Carlo, within … at 95 %".
std::string how_found(const RecoveryCurve& curve);

// ---- text for people (plan_text.cpp) -----------------------------------------------------------

/// One layer in full: replicas, which node holds which experts, recovery. Runs of equal nodes share
/// a line; long recovery curves are thinned. For mro_guarded the curves of mro and spread stand
/// beside the plan's own.
std::string to_text(const LayerPlan& plan);

/// A job of one layer: that layer in full. Of several: a line per layer, its replicas, and the
/// recovery of all layers together beside that of the weakest layer. At the end what the numbers
/// mean, and what to run next.
std::string to_text(const JobPlan& plan);

/// Layer `layer` of several in full, with what the numbers mean. Throws UserError where there is no
/// such layer.
std::string to_text(const JobPlan& plan, std::size_t layer);

}  // namespace assay::lazarus
