// Local search for a placement that loses experts less often, from a given one.
#pragma once

#include <cstdint>

#include "impls/lazarus/policy/exact_survivors.hpp"
#include "impls/lazarus/policy/types.hpp"

namespace assay::lazarus {

/// What is looked for, in survivors of the searched nodes.
struct SearchGoal {
    Survivors at_least;  ///< never fewer than these, above all
    Survivors wanted;    ///< never fewer than these either, if it can be had
};

/// How a plan does by a goal, each in units of 2^-32 as shortfall() gives it; smaller is better.
struct PlanQuality {
    std::int64_t below_least = 0;   ///< shortfall below SearchGoal::at_least
    std::int64_t below_wanted = 0;  ///< shortfall below SearchGoal::wanted
    std::int64_t lost = 0;          ///< share of failure sets that lose an expert, sum over k

    /// below_least first, then below_wanted, then lost.
    bool better_than(const PlanQuality& other) const;
};
PlanQuality judge(const Survivors& survivors, const SearchGoal& goal);

struct SearchOptions {
    std::uint64_t seed = 1;
    double work = 1 << 20;  ///< budget in the unit of counting_work(); never a time
};

/// Plans of the same replicas by swapping two replicas between nodes, worse steps allowed up to a
/// threshold that falls to zero (threshold accepting). Returns the best plan seen, which may be
/// `start`, and is where its survivors cannot be counted. Deterministic. Precondition: at most
/// most_masked_nodes nodes, all with equally many slots; expert ids in 0 … experts-1.
Placement search_placement(const Placement& start, int experts, const SearchGoal& goal,
                           const SearchOptions& options);

}  // namespace assay::lazarus
