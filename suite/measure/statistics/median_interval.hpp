// Confidence intervals for a median.
#pragma once

#include <cstdint>
#include <span>

#include "suite/measure/statistics/interval.hpp"

namespace assay::statistics {

/// Fewer values than this, and BCa of a median covers less than 93 % where 95 % are asked for, on
/// some of normal, lognormal and bimodal data (tests/statistics measures it); then order
/// statistics are used.
extern const int smallest_n_for_bca;
/// More values than this: order statistics again. Their steps are then far below the width, they
/// are exact, and a bootstrap would take seconds for a hundred thousand values.
extern const int largest_n_for_bca;
/// Fewer values than this, and even the range of all of them covers less than 93 %: no interval.
extern const int smallest_n_for_interval;

struct BootstrapOptions {
    double level = 0.95;
    int resamples = 2000;
    std::uint64_t seed = 1;  ///< the same seed gives the same bits on every machine
};

/// Narrowest symmetric pair of order statistics whose coverage, exact for any continuous
/// distribution, is at least `level`; the whole range where that covers less than `level` but
/// misses at most 1.4 times as often as asked (93 % for 95 %), else method none, as below
/// smallest_n_for_interval values. std::invalid_argument, here and below: values that are not
/// finite, a level outside (0, 1).
Interval order_statistics_interval(std::span<const double> values, double level = 0.95);

/// BCa interval of the median, which always holds the median itself. Degenerate resamples (all
/// equal) give a point; fewer than two values none.
Interval bca_median_interval(std::span<const double> values, const BootstrapOptions& = {});

/// BCa from smallest_n_for_bca to largest_n_for_bca values, order statistics below and above.
Interval median_interval(std::span<const double> values, const BootstrapOptions& = {});

}  // namespace assay::statistics
