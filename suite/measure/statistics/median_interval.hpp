// Confidence intervals, and that of a median by order statistics.
#pragma once

#include <optional>
#include <span>

#include "suite/base/describe.hpp"

namespace assay::statistics {

enum class IntervalMethod {
    none,              ///< too few values for any interval at this level
    order_statistics,  ///< exact for any distribution: binomial ranks around the median
    rank_sum,          ///< inversion of the Mann-Whitney test (Hodges and Lehmann 1963)
};
ASSAY_NAMES(IntervalMethod, none, order_statistics, rank_sum)

struct Interval {
    double low = 0, high = 0;  ///< NaN with IntervalMethod::none
    double level = 0.95;       ///< asked for; order statistics and rank sums may cover more
    IntervalMethod method = IntervalMethod::none;
};

/// Method none.
Interval no_interval(double level);

/// What level an interval made of ranks can promise when even its widest choice covers little:
/// `level` where the widest covers as much; its own `widest_coverage` where that misses at most 1.4
/// times as often as asked (93 % for 95 %); else nullopt: no interval at this level.
/// std::invalid_argument: a level outside (0, 1).
std::optional<double> attainable_level(double level, double widest_coverage);

/// Fewer values than this, and even the range of all of them covers less than 93 %: no interval.
extern const int smallest_n_for_interval;

/// Narrowest symmetric pair of order statistics whose coverage, exact for any continuous
/// distribution, is at least `level`; the whole range where that covers less than `level` but
/// misses at most 1.4 times as often as asked (93 % for 95 %), else method none, as below
/// smallest_n_for_interval values. No bootstrap: BCa of a median covers 87 % with seven values
/// where 95 % are asked for, and from 46 on, where it keeps its promise, it is hardly narrower.
/// std::invalid_argument: values that are not finite, a level outside (0, 1).
Interval median_interval(std::span<const double> values, double level = 0.95);

}  // namespace assay::statistics
