// How many sets of k failed nodes leave every expert a live replica, for every k: the one counter
// behind recovery probabilities (recovery_probability.hpp) and comparisons of plans
// (beyond/plan_quality.hpp).
//
// A failure set survives when it contains none of the holder sets. Three ways to count give the
// same numbers: going through all failure sets (few nodes), inclusion-exclusion over all unions of
// holder sets (few holder sets), or going from node to node (few holder sets at a time).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "impls/lazarus/policy/plan/holder_sets.hpp"

namespace assay::lazarus {

enum class Counting { enumeration, inclusion_exclusion };

/// More nodes than these are not enumerated: the failure sets are bits in memory.
inline constexpr int most_enumerated_nodes = 30;

/// [k]: number of sets of k failed nodes that contain none of the holder sets, k = 0 … nodes. At
/// most C(64, 32), which fits: exact integers, so that "never worse" is no matter of rounding.
using Survivors = std::vector<std::uint64_t>;

/// Preconditions: at most most_masked_nodes nodes; enumeration: at most most_enumerated_nodes.
/// Inclusion-exclusion takes 2^holders.size() unions.
Survivors count_survivors(std::span<const NodeMask> holders, int nodes, Counting way);

/// The same for any number of nodes up to most_countable_nodes(). long double holds integers up to
/// 2^64 exactly and, at 15 exponent bits, binomials of up to 16383 nodes. Up to 64 nodes the counts
/// are exact; beyond, alternating terms cost at most sets.size() bits of accuracy.
using SurvivorCounts = std::vector<long double>;
SurvivorCounts count_survivors(const FailureComponent& component, Counting way);
int most_countable_nodes();

/// The same, node after node (survivor_sweep.cpp). Cheap where few holder sets reach across any one
/// node, however many there are in all, as with placements that walk over the nodes. Nothing is
/// subtracted, so that every count is good to a few units of rounding. Nothing where it takes more
/// than `most_work` products.
std::optional<SurvivorCounts> sweep_survivors(const FailureComponent& component, double most_work);

/// All sets of k of `nodes` nodes. Precondition: at most most_masked_nodes.
const Survivors& binomials(int nodes);

/// The same for any number of nodes up to most_countable_nodes().
SurvivorCounts all_failure_sets(int nodes);

}  // namespace assay::lazarus
