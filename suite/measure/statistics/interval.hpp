// A confidence interval and how it was made.
#pragma once

#include <string_view>

namespace assay::statistics {

enum class IntervalMethod {
    none,              ///< too few values for any interval at this level
    bca,               ///< bias-corrected and accelerated bootstrap (Efron 1987)
    order_statistics,  ///< exact for any distribution: binomial ranks around the median
    rank_sum,          ///< inversion of the Mann-Whitney test (Hodges and Lehmann 1963)
};
std::string_view to_string(IntervalMethod);

struct Interval {
    double low = 0, high = 0;  ///< NaN with IntervalMethod::none
    double level = 0.95;       ///< asked for; order statistics and rank sums may cover more
    IntervalMethod method = IntervalMethod::none;
};

}  // namespace assay::statistics
