// Rank tests of two samples: Mann-Whitney U and the shift of Hodges and Lehmann.
#pragma once

#include <span>
#include <vector>

#include "suite/measure/statistics/interval.hpp"

namespace assay::statistics {

struct MannWhitney {
    double u = 0;  ///< pairs (a, b) with a > b, ties counting half: SciPy's statistic for (a, b)
    double p = 1;  ///< two-sided
    bool exact = false;  ///< exact distribution (no ties, small samples), else normal with
                         ///< tie and continuity correction
};
/// std::invalid_argument: an empty side, NaN.
MannWhitney mann_whitney(std::span<const double> a, std::span<const double> b);

/// Median of all b[j] - a[i].
double hodges_lehmann_shift(std::span<const double> a, std::span<const double> b);
/// Interval of that shift by inverting the Mann-Whitney test; method none when the samples are too
/// small for `level` (below 93 % at best).
Interval hodges_lehmann_interval(std::span<const double> a, std::span<const double> b,
                                 double level = 0.95);
/// Pseudo-median: median of the averages of all pairs, each value with itself too.
double hodges_lehmann(std::span<const double> values);

/// Holm's step-down correction: adjusted p-values in the order given, each at most 1.
std::vector<double> holm(std::span<const double> p);

}  // namespace assay::statistics
