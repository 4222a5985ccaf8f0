// Our own addition: is maximum rank overlap optimal? Exhaustive search on small instances, and the
// instances where it is not.
#include <array>
#include <cstddef>
#include <string>

#include "impls/lazarus/experiments/exact/exhaustive_search.hpp"
#include "impls/lazarus/experiments/exact/recovery_metric.hpp"
#include "impls/lazarus/experiments/experiments.hpp"
#include "impls/lazarus/policy/plan/allocation.hpp"
#include "impls/lazarus/policy/plan/placement.hpp"
#include "suite/experiment/declaration.hpp"
#include "suite/experiment/exact_profiles.hpp"

namespace assay::lazarus {
namespace {

enum class Part { all_small, n3_c2_e3, n4_c3_e4, n5_c6_e13 };
ASSAY_NAMES(Part, all_small, n3_c2_e3, n4_c3_e4, n5_c6_e13)

struct XTheorem1 {
    Part part{};
    PlacementPolicy policy{};
};

void search_all(PlacementPolicy policy, Recorder& recorder) {
    std::array<long, problem_classes.size()> optimal{}, suboptimal{};
    const std::vector<PlacementProblem> problems = small_instances();
    for (std::size_t i = 0; i < problems.size(); ++i) {
        const auto& [nodes, slots, replicas] = problems[i];
        const auto best = best_surviving_failure_sets(replicas, nodes, slots);
        const auto got =
            surviving_failure_sets(place(policy, replicas, nodes, slots), problems[i].experts());
        auto& counts = got == best ? optimal : suboptimal;
        ++counts[class_of(problems[i])];
        if (i + 1 == problems.size() || problems[i + 1].nodes != nodes)
            recorder.progress((nodes - 1) / 5.0, "exhaustive search");
    }
    for (std::size_t c = 0; c < problem_classes.size(); ++c) {
        const std::string name(problem_classes[c]);
        recorder.metric("instances", static_cast<double>(optimal[c]),
                        {{"class", name}, {"outcome", "optimal"}});
        recorder.metric("instances", static_cast<double>(suboptimal[c]),
                        {{"class", name}, {"outcome", "suboptimal"}});
    }
}

void record_instance(PlacementPolicy policy, const Replicas& replicas, int nodes, int slots,
                     Recorder& recorder) {
    const auto experts = static_cast<int>(replicas.size());
    record_recovery(recovery_probability(place(policy, replicas, nodes, slots), experts), recorder);
}

void run(const XTheorem1& theorem, Recorder& recorder) {
    const auto instance = [&](const Replicas& replicas, int nodes, int slots) {
        record_instance(theorem.policy, replicas, nodes, slots, recorder);
    };
    if (theorem.part == Part::all_small) return search_all(theorem.policy, recorder);
    if (theorem.part == Part::n3_c2_e3) return instance({2, 2, 2}, 3, 2);
    if (theorem.part == Part::n4_c3_e4) return instance({3, 3, 3, 3}, 4, 3);
    instance(allocate(Loads(13, 1), 5, 6, 2).replicas, 5, 6);
}

}  // namespace

Experiment x_theorem1() {
    Declaration<XTheorem1> theorem(
        {.id = "lazarus/x_theorem1",
         .title = "Where maximum rank overlap is optimal, by exhaustive search",
         .source = "our own; tests Theorem 1 of arXiv 2407.04656v2, section 4.1",
         .says =
             "all_small tries every placement of every instance with 2 to 6 nodes, up to 3 slots "
             "per node and 12 in all, and 2 to 6 experts (239 instances), and counts where the "
             "variant reaches the best possible recovery probability for every number of failures. "
             "Classes: one_group (no more experts than slots), whole_groups, and cut_group, where "
             "the last group gets fewer nodes than its coldest expert has replicas; there Theorem "
             "1 fails. The other parts are counterexamples: three nodes, two slots, 2+2+2 "
             "replicas; four nodes, three slots, 3+3+3+3; and five nodes, six slots, 13 even "
             "experts with at least two replicas, where overlap puts all three replicas of an "
             "expert on one node, so that a single failure loses it.",
         .metrics =
             {recovery_metric(),
              {.name = "instances",
               .unit = "count",
               .says = "instances by class and outcome (optimal: best at every number of failures)",
               .deterministic = true,
               .labels = {"class", "outcome"}}},
         .profiles = exact_profiles(0.1),
         .figure = recovery_figure({"part"})});
    theorem.axis("part", &XTheorem1::part, "the search, or one counterexample");
    theorem.variants(&XTheorem1::policy, {PlacementPolicy::mro, PlacementPolicy::spread});
    return theorem.runs(run);
}

}  // namespace assay::lazarus
