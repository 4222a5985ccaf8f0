// Two heaps of values instead of one.
#pragma once

#include <cstddef>
#include <span>

namespace assay::statistics {

/// Two clusters, for example of processes that got two kinds of memory placement: what makes
/// run-to-run gates cry wolf (papers: 22.5 against 25.5 ms at 0.05 ms spread within).
struct Bimodality {
    bool bimodal = false;
    double separation = 0;     ///< Ashman's D of the best split in two; infinite without any spread
                               ///< within the two
    double low = 0, high = 0;  ///< medians of the two clusters
    double share_high = 0;     ///< of values in the upper cluster
};
/// Two clusters are claimed only when the dip test rejects one mode, both hold enough values and
/// they stand well apart; fewer than ten values: never. std::invalid_argument: values that are
/// not finite.
Bimodality bimodality(std::span<const double> values);

/// Hartigan and Hartigan (1985): the least possible largest distance between the empirical
/// distribution function and one that is convex up to a mode and concave after it. Between 1 / (2n)
/// and 1/4. Values in ascending order, at least one. The test stays beside Ashman's D, which alone
/// takes disturbed runs for a cluster: where one run in ten is 20 % slower, in 21 to 57 % of the
/// samples of ten to fifty values, with the test in 1 % (tests/statistics/bimodality_test.cpp).
double dip(std::span<const double> ascending);
/// What the dip of n values of a uniform distribution, the hardest of those with one mode, exceeds
/// once in twenty times. std::invalid_argument: fewer than ten values.
double critical_dip(std::size_t n);

}  // namespace assay::statistics
