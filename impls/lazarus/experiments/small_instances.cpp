#include "impls/lazarus/experiments/small_instances.hpp"

#include <algorithm>

#include "impls/lazarus/experiments/exhaustive_search.hpp"
#include "impls/lazarus/policy/placement.hpp"

namespace assay::lazarus {

std::vector<PlacementProblem> small_instances() {
    std::vector<PlacementProblem> problems;
    for (int nodes = 2; nodes <= 6; ++nodes) {
        for (int slots = 1; slots <= 3 && nodes * slots <= 12; ++slots) {
            for (int experts = 2; experts <= std::min(6, nodes * slots); ++experts) {
                for (Replicas& replicas : all_replica_counts(experts, nodes * slots))
                    problems.push_back({nodes, slots, std::move(replicas)});
            }
        }
    }
    return problems;
}

std::size_t class_of(const PlacementProblem& problem) {
    if (problem.replicas.size() <= static_cast<std::size_t>(problem.slots)) return 0;
    return mro_truncated(problem.replicas, problem.nodes, problem.slots) ? 2 : 1;
}

}  // namespace assay::lazarus
