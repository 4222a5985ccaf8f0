// How many replicas each expert gets (paper section 4.1, Eq. 1), in exact integers.
#pragma once

#include <span>

#include "impls/lazarus/policy/types.hpp"

namespace assay::lazarus {

struct Allocation {
    Replicas replicas;          ///< in input order; sums to nodes · slots
    int min_replicas_used = 0;  ///< f after relaxation: min(f, nodes · slots / experts)
};

/// Experts are served from cold to hot (equal loads: the lower index counts as colder); each gets
/// the share of the remaining slots that its load is of the remaining load, rounded down, but at
/// least f. Where the slots do not suffice for f replicas of every expert, f is lowered. All loads
/// zero: even shares. Throws UserError: no experts, a negative load, nodes or slots below 1, f
/// below 1, or fewer slots than experts (nodes · slots < experts). Loads may be as large as 2^63-1
/// each.
Allocation allocate(std::span<const Tokens> loads, int nodes, int slots, int min_replicas);

}  // namespace assay::lazarus
