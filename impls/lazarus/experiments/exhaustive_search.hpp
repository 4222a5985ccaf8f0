// The best any placement can do, by trying them all: the yardstick for Theorem 1 on small
// instances.
#pragma once

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

}  // namespace assay::lazarus
