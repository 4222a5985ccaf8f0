// Fig. 10b: recovery probability of a single layer whose load is skewed.
#include <cstdint>

#include "impls/lazarus/experiments/exact/recovery_metric.hpp"
#include "impls/lazarus/experiments/experiments.hpp"
#include "impls/lazarus/policy/plan/allocation.hpp"
#include "impls/lazarus/policy/plan/placement.hpp"
#include "suite/experiment/exact_profiles.hpp"
#include "suite/experiment/experiment.hpp"

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

void run(const SampleSpec& spec, Recorder& recorder) {
    const std::int64_t ratio = integer_axis(spec, "ratio");
    const int slots = static_cast<int>(integer_axis(spec, "slots"));
    const Loads loads = skewed_loads(ratio);
    const Allocation allocation = allocate(loads, nodes, slots, min_replicas);
    const PlacementPolicy policy = of_word<PlacementPolicy>(spec.variant).value();
    record_recovery(
        recovery_probability(place(policy, allocation.replicas, nodes, slots, loads), experts),
        recorder);
}

}  // namespace

Experiment fig10b() {
    Experiment experiment;
    experiment.id = "lazarus/fig10b";
    experiment.title = "Recovery probability of one layer under skewed loads";
    experiment.source = "arXiv 2407.04656v2, section 6.5, Fig. 10b";
    experiment.says =
        "Eight experts on ten nodes, at least two replicas each; one expert gets twice or four "
        "times its even share of the tokens. The paper does not say how many slots a node has "
        "here: with four its prose fits (overlap far better than spreading); with six and a ratio "
        "of two the last group of nodes is cut short and spreading recovers more often after four "
        "and five failures. mro_guarded, overlap repaired where it is cut short, is ours (see "
        "x_guarded).";
    experiment.axes = {
        {"ratio",
         "load of the hot expert, in even shares",
         {std::int64_t{2}, std::int64_t{4}},
         false},
        {"slots", "replica slots per node", {std::int64_t{4}, std::int64_t{6}}, false}};
    experiment.variants = {"mro", "spread", "mro_guarded"};
    experiment.metrics = {recovery_metric()};
    experiment.profiles = exact_profiles(0.05);
    experiment.figure = recovery_figure({"slots", "ratio"});
    experiment.run = run;
    return experiment;
}

}  // namespace assay::lazarus
