// Our own addition: how the placements compare from ten nodes to thousands, mro_guarded among them.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "impls/lazarus/data/seeded_shuffle.hpp"
#include "impls/lazarus/experiments/exact/recovery_metric.hpp"
#include "impls/lazarus/experiments/experiments.hpp"
#include "impls/lazarus/experiments/model_loads.hpp"
#include "impls/lazarus/policy/beyond/guarded_placement.hpp"
#include "impls/lazarus/policy/plan/allocation.hpp"
#include "impls/lazarus/policy/plan/mro.hpp"
#include "impls/lazarus/policy/plan/placement.hpp"
#include "suite/experiment/declaration.hpp"
#include "suite/experiment/exact_profiles.hpp"

namespace assay::lazarus {
namespace {

constexpr int layers = 12, min_replicas = 2;

enum class Balance { even, skewed };
ASSAY_NAMES(Balance, even, skewed)

struct XGuardedScale {
    int nodes = 0, experts = 0;
    Balance loads{};
    PlacementPolicy policy{};
    std::uint64_t seed = 0;
};

// As many as on the paper's testbed, and for its simulation's width as there; more where two
// replicas of every expert need them.
int slots_of(int nodes, int experts) {
    const int given = experts == 256 ? 32 : 6;
    return std::max(given, (min_replicas * experts + nodes - 1) / nodes);
}

std::vector<Loads> loads_of(const XGuardedScale& scale) {
    if (scale.loads == Balance::even) return uniform_loads(layers, scale.experts);
    auto random = seeded_engine(scale.seed, 0, 0);
    return skewed_loads(layers, scale.experts, random);
}

void run(const XGuardedScale& scale, Recorder& recorder) {
    const int nodes = scale.nodes, experts = scale.experts, slots = slots_of(nodes, experts);
    const std::vector<Loads> loads = loads_of(scale);
    const ModelPlan plan = make_model_plan(loads, nodes, slots, min_replicas, scale.policy);
    const RecoveryCurve curve = recovery_probability(plan.placement, experts);
    if (curve.method != RecoveryMethod::exact) {
        throw SampleError(SampleStatus::failed,
                          "the recovery probability was estimated where it must be exact");
    }
    for (std::int64_t percent : {1, 2, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90}) {
        const auto lost = static_cast<std::size_t>(nodes * percent / 100);
        if (lost == 0) continue;
        recorder.metric("recovery_probability", curve.probability[lost],
                        {{"lost_percent", percent}});
    }
    for (std::int64_t lost : {1, 2, 3, 4, 8}) {
        recorder.metric("recovery_of_few", curve.probability[static_cast<std::size_t>(lost)],
                        {{"failed", lost}});
    }
    int cut = 0, repaired = 0;
    for (std::size_t layer = 0; layer < loads.size(); ++layer) {
        if (!mro_truncated(plan.replicas[layer], nodes, slots)) continue;
        ++cut;
        repaired += plan.placement[layer] !=
                    place(PlacementPolicy::mro, plan.replicas[layer], nodes, slots, loads[layer]);
    }
    recorder.metric("layers_cut", cut);
    if (scale.policy == PlacementPolicy::mro_guarded) recorder.metric("layers_repaired", repaired);
}

MetricSpec metric(std::string name, std::string unit, std::string says,
                  std::vector<std::string> labels = {}) {
    const auto better = unit == "probability" ? Direction::higher : Direction::none;
    return {.name = std::move(name),
            .unit = std::move(unit),
            .says = std::move(says),
            .better = better,
            .deterministic = true,
            .labels = std::move(labels)};
}

}  // namespace

Experiment x_guarded_scale() {
    Declaration<XGuardedScale> scale(
        {.id = "lazarus/x_guarded_scale",
         .title = "Placements from ten nodes to 4,096: recovery probability",
         .source = "our own, beside arXiv 2407.04656v2, sections 4.1 and 6.3",
         .says =
             "Twelve layers, at least two replicas per expert, which is the paper's f whatever the "
             "size of the cluster: 16 or 64 experts with six slots per node as on its testbed, 256 "
             "experts with 32 slots per node as in its simulation (more where a small cluster "
             "needs them). Loads are even, as before any is known, or seeded and skewed. Every "
             "expert of every layer must survive the same loss. Exact at every size: failure sets "
             "are counted, not sampled (policy/plan/survivors). How long planning takes is in "
             "x_planner, `-a placement=mro_guarded` there. On more than 64 nodes mro_guarded "
             "rearranges overlap's last groups where they are small, and is overlap where they are "
             "not.",
         .metrics = {metric("recovery_probability", "probability",
                            "share of the losses of `lost_percent` of the nodes (rounded down; "
                            "none: left out) "
                            "that leave every expert a live replica",
                            {"lost_percent"}),
                     metric("recovery_of_few", "probability",
                            "the same at the loss of `failed` nodes", {"failed"}),
                     metric("layers_cut", "count",
                            "layers in which overlap's last group is cut short"),
                     metric("layers_repaired", "count",
                            "mro_guarded: of these, layers in which the plan is not overlap's")},
         .profiles = exact_profiles(0.3),
         .figure = {.kind = Figure::Kind::lines,
                    .metric = "recovery_probability",
                    .x = "lost_percent",
                    .panels = {"nodes", "experts", "loads"},
                    .x_title = "lost nodes, %",
                    .y_title = "recovery probability"}});
    scale.rest.profiles.front().axes = {{"experts", {std::int64_t{16}, std::int64_t{64}}}};
    scale.axis("nodes", &XGuardedScale::nodes, "nodes before the loss", {10, 64, 256, 1024, 4096});
    scale.axis("experts", &XGuardedScale::experts, "experts per layer", {16, 64, 256});
    scale.axis("loads", &XGuardedScale::loads, "tokens per expert");
    scale.variants(&XGuardedScale::policy, {PlacementPolicy::mro_guarded, PlacementPolicy::mro,
                                            PlacementPolicy::spread, PlacementPolicy::compact});
    scale.given(&XGuardedScale::seed, &SampleSpec::seed);
    return scale.runs(run);
}

}  // namespace assay::lazarus
