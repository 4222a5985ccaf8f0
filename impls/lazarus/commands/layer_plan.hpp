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
    /// The same for the same replicas placed by these: with mro_guarded, and with mro where a
    /// layer's last group of experts is cut short. That each guarded layer dominates mro's and
    /// spread's does not mean that all together do.
    std::optional<RecoveryCurve> mro, guarded, spread;
};

/// Which of mro and mro_guarded to take for all layers together: the one that recovers more often
/// at the fewest lost nodes at which they differ by more than their errors; where they do not, the
/// one that was chosen. So whichever was, both say the same.
struct Advice {
    PlacementPolicy take = PlacementPolicy::mro;
    std::string why;  ///< a sentence, with the numbers
};
/// Nothing for other placements, and for mro where no group is cut short: then it is optimal.
std::optional<Advice> advice(const JobPlan& plan);

/// `request.loads` is not read. Throws UserError as plan_layer() does, also for
/// more than 16,384 experts in all layers together.
JobPlan plan_job(const std::vector<Loads>& layers, const LayerPlanRequest& request);

/// {"replicas","nodes","recovery","recovery_method","recovery_error","min_replicas_used","placement"}
/// and for mro_guarded "dominates": true or false, as in GuardedPlacement.
nlohmann::json to_json(const LayerPlan& plan);

/// A job of one layer: as that layer. Any: "recovery", "recovery_method" and "recovery_error" are
/// of all layers together, "recovery_says" is a sentence about them; "placement";
/// "min_replicas_used", the least of any layer; "layers": [as above, with "layer" and "loads"].
/// Where there is advice(): "advice": {"take": "mro"|"mro_guarded", "why"}, and for several layers
/// "recovery_mro", "recovery_mro_guarded", "recovery_spread".
nlohmann::json to_json(const JobPlan& plan);

/// How a curve was found: "exact", or "Monte Carlo, within … at 95 %".
std::string how_found(const RecoveryCurve& curve);

// ---- text for people (plan_text.cpp) -----------------------------------------------------------

/// A job of one layer, in so many columns: replicas, which node holds which experts, recovery. Runs
/// of equal nodes share a line; long recovery curves are thinned. For mro_guarded the curves of mro
/// and spread stand beside the plan's own. Of several layers: a line for each, its replicas, and
/// the recovery of all together beside that of the weakest. At the end what the numbers mean, which
/// placement to take where that is a question, and what to run next.
std::string to_text(const JobPlan& plan, std::size_t columns);

/// Layer `layer` of several in full, with what the numbers mean; there must be such a layer.
std::string to_text(const JobPlan& plan, std::size_t layer, std::size_t columns);

}  // namespace assay::lazarus
