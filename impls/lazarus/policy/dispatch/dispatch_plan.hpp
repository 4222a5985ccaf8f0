// The flexible token dispatcher (paper section 4.2, Algorithm 1) in integers: how many tokens of
// each expert go from which rank to which, and where they lie in the exchange buffers.
//
// Every rank computes the whole plan from the global counts, so send and receive counts agree
// without another exchange. The paper leaves rounding open; the one rule used here, per expert e
// with t tokens and r replicas, of which R[j] on rank j:
//   1. capacity of rank j: t·R[j]/r rounded to integers that sum to t (largest remainder; a tie
//      goes to the lower rank), so floor(t·R[j]/r) or one more;
//   2. rank j keeps local[j] = min(capacity[j], T[j]) of its own tokens; the rest is its overflow;
//   3. sources in rank order spread their overflow over the capacity still free, in proportion to
//      it (largest remainder; a tie goes to the lower rank).
// Hence rows and columns are exact: no token is lost, and rank j processes exactly capacity[j]
// tokens of e, which differs from the ideal share t·R[j]/r by less than one token.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "impls/lazarus/policy/types.hpp"

namespace assay::lazarus {

/// Tokens per (expert, source rank, destination rank).
struct DispatchPlan {
    int experts = 0;
    int ranks = 0;
    std::vector<Tokens> counts;  ///< [experts][source][destination], row-major
    /// Rows of the exchange buffers for each entry of `counts`, at least as many; the surplus is
    /// padding. Empty: an un-padded plan, as many rows as tokens.
    std::vector<Tokens> padded;

    Tokens at(int expert, int source, int destination) const {
        return counts[index(expert, source, destination)];
    }
    Tokens room(int expert, int source, int destination) const {
        return (padded.empty() ? counts : padded)[index(expert, source, destination)];
    }
    std::size_t index(int expert, int source, int destination) const {
        return (static_cast<std::size_t>(expert) * static_cast<std::size_t>(ranks) +
                static_cast<std::size_t>(source)) *
                   static_cast<std::size_t>(ranks) +
               static_cast<std::size_t>(destination);
    }
};

/// `tokens`: T, [experts][ranks] row-major, tokens at each rank routed to each expert.
/// `replicas`: R, [experts][ranks] row-major, replicas of each expert on each rank.
/// Throws UserError when a shape is wrong, a count is negative, the tokens of an expert exceed
/// 2^62, or an expert that has tokens has no replica. O(experts · ranks²).
DispatchPlan plan_dispatch(std::span<const Tokens> tokens, std::span<const int> replicas,
                           int experts, int ranks);

/// The same into `plan`, whose memory is reused.
void plan_dispatch(std::span<const Tokens> tokens, std::span<const int> replicas, int experts,
                   int ranks, DispatchPlan& plan);

/// R as plan_dispatch() wants it, from one layer's holders: entry i of `holders` is rank i.
std::vector<int> replica_counts(const Placement& holders, int experts);

}  // namespace assay::lazarus
