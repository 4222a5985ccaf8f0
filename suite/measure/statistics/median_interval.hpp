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
/// Fewer values than this, and even the range of all of them covers less than 93 %: no interval.
extern const int smallest_n_for_interval;

struct BootstrapOptions {
    double level = 0.95;
    int resamples = 2000;
    std::uint64_t seed = 1;  ///< the same seed gives the same bits on every machine
};

/// Narrowest symmetric pair of order statistics whose coverage, exact for any continuous
/// distribution, is at least min(level, 0.93 where the whole range covers no more). Method none
/// below smallest_n_for_interval.
Interval order_statistics_interval(std::span<const double> values, double level = 0.95);

/// BCa interval of the median. Degenerate resamples (all equal) give a point.
Interval bca_median_interval(std::span<const double> values, const BootstrapOptions& = {});

/// BCa from smallest_n_for_bca values on, order statistics below.
Interval median_interval(std::span<const double> values, const BootstrapOptions& = {});

}  // namespace assay::statistics
