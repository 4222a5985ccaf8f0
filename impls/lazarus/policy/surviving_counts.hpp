// How many sets of k failed nodes contain none of a component's holder sets, for every k: as
// polynomials, so that independent components multiply.
//
// long double holds integers up to 2^64 exactly and, at 15 exponent bits, binomials of up to 16383
// nodes; sums of positive terms stay accurate to about nodes · 5e-20.
#pragma once

#include <optional>
#include <vector>

#include "impls/lazarus/policy/failure_sets.hpp"

namespace assay::lazarus {

/// Coefficient k: number of sets of k nodes.
using SetCounts = std::vector<long double>;

/// The largest number of nodes whose binomials a SetCounts can hold.
int most_countable_nodes();

/// Binomials of `nodes`: all sets.
SetCounts all_sets(int nodes);

/// Enumerates the 2^nodes failure sets. Precondition: component.nodes <= 30.
SetCounts count_by_enumeration(const FailureComponent& component);

/// Expands over all unions of holder sets. Precondition: component.sets.size() <= 24. Alternating
/// terms cost at most sets.size() bits of accuracy.
SetCounts count_by_inclusion_exclusion(const FailureComponent& component);

/// Counts over the nodes of both.
SetCounts multiply(const SetCounts& a, const SetCounts& b);

}  // namespace assay::lazarus
