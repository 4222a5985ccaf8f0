// Fig. 10b: recovery probability of a single layer whose load is skewed.
#include <cstdint>

#include "impls/lazarus/experiments/exact/recovery_metric.hpp"
#include "impls/lazarus/experiments/experiments.hpp"
#include "impls/lazarus/policy/plan/allocation.hpp"
#include "impls/lazarus/policy/plan/placement.hpp"
#include "suite/experiment/declaration.hpp"
#include "suite/experiment/exact_profiles.hpp"

namespace assay::lazarus {
namespace {

constexpr int nodes = 10, experts = 8, min_replicas = 2;

// One expert gets `ratio` times its even share, the others divide the rest evenly (in units of a
// 56th of the tokens).
Loads skewed_loads(std::int64_t ratio) {
    Loads loads(experts, experts - ratio);
    loads.back() = (experts - 1) * ratio;
    return loads;
}

struct Fig10b {
    int ratio = 0, slots = 0;
    PlacementPolicy policy{};
};

void run(const Fig10b& fig10b, Recorder& recorder) {
    const Loads loads = skewed_loads(fig10b.ratio);
    const Allocation allocation = allocate(loads, nodes, fig10b.slots, min_replicas);
    const Placement placement =
        place(fig10b.policy, allocation.replicas, nodes, fig10b.slots, loads);
    record_recovery(recovery_probability(placement, experts), recorder);
}

}  // namespace

Experiment fig10b() {
    Declaration<Fig10b> fig10b(
        {.id = "lazarus/fig10b",
         .title = "Recovery probability of one layer under skewed loads",
         .source = "arXiv 2407.04656v2, section 6.5, Fig. 10b",
         .says =
             "Eight experts on ten nodes, at least two replicas each; one expert gets twice or "
             "four times its even share of the tokens. The paper does not say how many slots a "
             "node has here: with four its prose fits (overlap far better than spreading); with "
             "six and a ratio of two the last group of nodes is cut short and spreading recovers "
             "more often after four and five failures. mro_guarded, overlap repaired where it is "
             "cut short, is ours (see x_guarded).",
         .metrics = {recovery_metric()},
         .profiles = exact_profiles(0.05),
         .figure = recovery_figure({"slots", "ratio"})});
    fig10b.axis("ratio", &Fig10b::ratio, "load of the hot expert, in even shares", {2, 4});
    fig10b.axis("slots", &Fig10b::slots, "replica slots per node", {4, 6});
    fig10b.variants(&Fig10b::policy,
                    {PlacementPolicy::mro, PlacementPolicy::spread, PlacementPolicy::mro_guarded});
    return fig10b.runs(run);
}

}  // namespace assay::lazarus
