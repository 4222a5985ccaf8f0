// Least-loaded spill (LLEP, arXiv 2601.17111): fixed expert parallelism in which, step by step and
// layer by layer, rows beyond a rank's share go to the least-loaded ranks of its group, and the
// weights of their expert with them. No row is dropped and none computed otherwise: the maths is
// that of the model. From the paper's description and its defaults.
#pragma once

#include <span>
#include <vector>

#include "impls/lazarus/policy/dispatch/dispatcher.hpp"
#include "impls/lazarus/policy/types.hpp"

namespace assay::lazarus {

/// Rows of one expert that one rank computes.
struct SpillPart {
    int rank = 0;
    Tokens rows = 0;
    bool operator==(const SpillPart&) const = default;
};

/// One group: [expert] → who computes how many of its rows, each rank once. Parts of no rows are
/// not listed.
///
/// Nothing is spilled while the fullest rank has less than `imbalance` times the mean. Otherwise
/// experts are taken by rows, most first (ties: the lower id). A rank keeps of its own what fits
/// into `capacity` times the mean beside those of its experts that are still to come. The rest
/// goes, piece by piece, to the rank with the fewest rows, given or still to come of its own
/// experts (ties: the lower rank), as much as fits there; not where that would be fewer than
/// `fewest` rows and more are left. Where nobody qualifies the one with the fewest gets all that is
/// left.
///
/// `rows`: [expert]; `holder`: [expert] its rank. O(experts log experts + (experts + ranks) ·
/// ranks).
std::vector<std::vector<SpillPart>> spill_rows(std::span<const Tokens> rows,
                                               std::span<const int> holder, int ranks,
                                               const SpillLimits& limits);

}  // namespace assay::lazarus
