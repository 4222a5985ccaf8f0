#include "suite/measure/statistics/median_interval.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "suite/measure/statistics/distributions.hpp"
#include "suite/measure/statistics/quantile.hpp"

namespace assay::statistics {

const int smallest_n_for_interval = 5;

namespace {

double coverage_of_ranks(long long k, long long n) { return 1 - 2 * fair_binomial_cdf(k - 1, n); }

/// The largest k for which the k-th smallest and the k-th largest of n values still cover `level`;
/// k = 1 must.
long long innermost_rank(long long n, double level) {
    // The normal approximation is at most a few ranks off, the binomial decides.
    const double z = normal_quantile(0.5 + level / 2);
    const auto real_n = static_cast<double>(n);
    auto k = static_cast<long long>(real_n / 2 - z * std::sqrt(real_n) / 2);
    k = std::clamp<long long>(k, 1, (n + 1) / 2);
    while (k > 1 && coverage_of_ranks(k, n) < level) --k;
    while (k < (n + 1) / 2 && coverage_of_ranks(k + 1, n) >= level) ++k;
    return k;
}

}  // namespace

Interval no_interval(double level) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    return {.low = nan, .high = nan, .level = level, .method = IntervalMethod::none};
}

std::optional<double> attainable_level(double level, double widest_coverage) {
    if (!(level > 0 && level < 1))
        throw std::invalid_argument("a confidence level lies between 0 and 1");
    if (widest_coverage >= level) return level;
    constexpr double kToleratedExcess = 1.4;
    if (1 - widest_coverage <= kToleratedExcess * (1 - level)) return widest_coverage;
    return std::nullopt;
}

Interval median_interval(std::span<const double> values, double level) {
    const std::vector<double> ascending = ordered_finite(values, "an interval");
    const auto n = static_cast<long long>(ascending.size());
    const auto attainable = attainable_level(level, n > 0 ? coverage_of_ranks(1, n) : 0);
    if (n < smallest_n_for_interval || !attainable) return no_interval(level);
    const auto k = static_cast<std::size_t>(innermost_rank(n, *attainable));
    return {.low = ascending[k - 1],
            .high = ascending[ascending.size() - k],
            .level = level,
            .method = IntervalMethod::order_statistics};
}

}  // namespace assay::statistics
