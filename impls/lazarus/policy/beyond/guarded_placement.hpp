// Maximum rank overlap, repaired where Theorem 1 of the paper fails: our own addition.
//
// Overlap is optimal with a single group of experts, and wherever the last group gets as many nodes
// as its coldest expert has replicas. Where the nodes run out before that, the last group sits on
// too few nodes. Smaller groups that share nodes mend it: N=3, c=2, replicas (2,2,2) is {0,1},
// {1,2}, {2,0} instead of {0,1}, {0,1}, {2,2}. The best of these is then improved by local search.
#pragma once

#include <cstdint>
#include <span>

#include "impls/lazarus/policy/beyond/plan_quality.hpp"
#include "impls/lazarus/policy/types.hpp"
#include "suite/base/describe.hpp"

namespace assay::lazarus {

/// Where a guarded placement comes from.
enum class GuardedSource {
    mro,     ///< maximum rank overlap as published
    spread,  ///< round-robin
    blocks,  ///< place_blocks()
    search,  ///< local search
};
ASSAY_NAMES(GuardedSource, mro, spread, blocks, search)

struct GuardedOptions {
    std::uint64_t seed = 1;  ///< of the local search
    /// Budgets in the unit of counting_work(), never times; one unit is a few nanoseconds.
    double block_work = 1 << 22;   ///< of trying place_blocks(): sizes and starts until it is spent
    double search_work = 1 << 20;  ///< of the local search; 0: none
};

struct GuardedPlacement {
    Placement placement;
    /// Never fewer surviving failure sets than mro and than spread, for every number of failed
    /// nodes. Proven, never estimated: by Theorem 1 where mro is whole, elsewhere by counting in
    /// integers (against an upper bound for spread where spread has too many holder sets to count).
    /// False also where that is out of reach.
    bool dominates = false;
    GuardedSource source = GuardedSource::mro;
};

/// The same replicas as mro, on the same slots. Where mro_truncated() does not hold: mro.
/// Elsewhere, on at most 64 nodes, the plan that dominates with the most surviving failure sets (in
/// sum over the shares for each number of failures) of those that were tried; if none dominates,
/// the plan that falls least short of spread of those that are never worse than mro, which may be
/// mro itself.
///
/// On more nodes the last groups are rearranged, up to eight that lie on 64 nodes: the groups
/// before them share no node with them, so survivors of the whole are products, and a tail that is
/// never worse makes a plan that is never worse than mro (shown in integers; against spread nothing
/// is shown, `dominates` is false). Where the last two groups alone take more than 64 nodes: mro,
/// whose cut group is then so large that it is lost only with most of the cluster.
///
/// Where the survivors of mro cannot be counted: mro, with `dominates` false. Deterministic: equal
/// arguments, equal plan, on every machine. Throws UserError as place().
GuardedPlacement guarded_placement(const Replicas& replicas, int nodes, int slots,
                                   std::span<const Tokens> loads = {},
                                   const GuardedOptions& options = {});

// ---- the local search (guarded_search.cpp) -----------------------------------------------------

struct SearchOptions {
    std::uint64_t seed = 1;
    double work = 1 << 20;  ///< budget in the unit of counting_work(); never a time
    int fillers = 0;        ///< the last experts by id may be lost: they only fill slots
};

/// Looks for a plan of the same replicas that loses experts less often, by swapping two replicas
/// between nodes, worse steps allowed up to a threshold that falls to zero (threshold accepting).
/// Returns the best plan seen, which may be `start`, and is where its survivors cannot be counted.
/// Deterministic. Precondition: at most most_masked_nodes nodes, all with equally many slots;
/// expert ids in 0 … experts-1.
Placement search_placement(const Placement& start, int experts, const SearchGoal& goal,
                           const SearchOptions& options);

}  // namespace assay::lazarus
