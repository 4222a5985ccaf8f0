// The best any placement can do, by trying them all: the yardstick for Theorem 1, and the instances
// that are small enough for it. Shares nothing with what the planner counts by
// (policy/plan/survivors.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "impls/lazarus/policy/types.hpp"

namespace assay::lazarus {

/// Number of sets of k failed nodes that lose no expert, k = 0 … nodes. Precondition: at most 20
/// nodes.
std::vector<long> surviving_failure_sets(const Placement& placement, int experts);

/// For each k on its own, the most surviving failure sets over all placements of exactly these
/// replicas (nodes are interchangeable, so each multiset of nodes is tried once). Precondition:
/// nodes · slots <= 16, or it takes very long.
std::vector<long> best_surviving_failure_sets(const Replicas& replicas, int nodes, int slots);

/// Whether a single placement of exactly these replicas has at least `wanted` surviving failure
/// sets for every k. Precondition as above.
bool some_placement_reaches(const std::vector<long>& wanted, const Replicas& replicas, int nodes,
                            int slots);

/// a[k] >= b[k] for every k.
bool nowhere_below(const std::vector<long>& a, const std::vector<long>& b);

/// All ascending replica counts of `experts` experts, each at least 1, that fill `slots_total`
/// slots.
std::vector<Replicas> all_replica_counts(int experts, int slots_total);

/// A problem that may be small enough to try every placement of.
struct PlacementProblem {
    int nodes = 0;
    int slots = 0;  ///< per node
    Replicas replicas;

    int experts() const { return static_cast<int>(replicas.size()); }
};

/// 2 to 6 nodes, up to 3 slots per node and 12 in all, 2 to 6 experts, every ascending list of
/// replica counts: 239 problems.
std::vector<PlacementProblem> small_instances();

/// What Theorem 1 of the paper says about a problem depends on its groups of experts.
inline constexpr std::array<std::string_view, 3> problem_classes = {
    "one_group",     // no more experts than slots
    "whole_groups",  // every group gets as many nodes as its coldest expert has replicas
    "cut_group",     // the last group does not: mro_truncated()
};

/// Index into problem_classes.
std::size_t class_of(const PlacementProblem& problem);

}  // namespace assay::lazarus
