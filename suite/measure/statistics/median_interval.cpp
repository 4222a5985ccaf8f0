#include "suite/measure/statistics/median_interval.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "suite/measure/statistics/attainable_level.hpp"
#include "suite/measure/statistics/bootstrap_medians.hpp"
#include "suite/measure/statistics/distributions.hpp"
#include "suite/measure/statistics/ordered_sample.hpp"
#include "suite/measure/statistics/quantile.hpp"

namespace assay::statistics {

const int smallest_n_for_bca = 46;
const int largest_n_for_bca = 1000;
const int smallest_n_for_interval = 5;

namespace {

Interval no_interval(double level) {
    constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
    return {kNaN, kNaN, level, IntervalMethod::none};
}

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

Interval order_statistics_of_sorted(const std::vector<double>& ascending, double level) {
    const auto n = static_cast<long long>(ascending.size());
    const auto attainable = attainable_level(level, n > 0 ? coverage_of_ranks(1, n) : 0);
    if (n < smallest_n_for_interval || !attainable) return no_interval(level);
    const long long k = innermost_rank(n, *attainable);
    return {ascending[k - 1], ascending[n - k], level, IntervalMethod::order_statistics};
}

/// A sixth of the skewness of the n medians that leave one value out: Efron and Tibshirani (1993),
/// equation 14.15. For even n two medians occur, equally often: no skewness. 0 where all are equal,
/// which leaves the bootstrap distribution as it is.
double jackknife_acceleration(const std::vector<double>& ascending) {
    const std::size_t n = ascending.size();
    if (n % 2 == 0 || n < 3) return 0;
    const std::size_t m = n / 2;
    // Without a value below the middle, without the middle, without a value above; relative to the
    // median, so that large values with a small spread keep their digits.
    const double down = ascending[m - 1] - ascending[m], up = ascending[m + 1] - ascending[m];
    const double without[] = {up / 2, (down + up) / 2, down / 2};
    const double times[] = {double(m), 1, double(m)};
    double mean = 0, largest = 0;
    for (int i = 0; i < 3; ++i) mean += times[i] * without[i] / double(n);
    for (double value : without) largest = std::max(largest, std::abs(mean - value));
    if (largest == 0) return 0;
    double squares = 0, cubes = 0;
    for (int i = 0; i < 3; ++i) {
        const double deviation = (mean - without[i]) / largest;
        squares += times[i] * deviation * deviation;
        cubes += times[i] * deviation * deviation * deviation;
    }
    return cubes / (6 * squares * std::sqrt(squares));
}

Interval bca_of_sorted(const std::vector<double>& ascending, const BootstrapOptions& options) {
    attainable_level(options.level, 1);  // throws where the level is none
    if (ascending.size() < 2) return no_interval(options.level);
    const double middle = quantile_of_sorted(ascending, 0.5);
    const auto medians = bootstrap_medians(ascending, options.resamples, options.seed);
    const auto below = std::lower_bound(medians.begin(), medians.end(), middle);
    const auto not_above = std::upper_bound(below, medians.end(), middle);
    const auto count = static_cast<double>(medians.size());
    // Resamples equal to the median count half; a share of 0 or 1 would have no quantile.
    const double share =
        std::clamp(0.5 * double((below - medians.begin()) + (not_above - medians.begin())) / count,
                   0.5 / count, 1 - 0.5 / count);
    const double bias = normal_quantile(share), acceleration = jackknife_acceleration(ascending);
    const auto corrected = [&](double z) {
        return normal_cdf(bias + (bias + z) / (1 - acceleration * (bias + z)));
    };
    const double z = normal_quantile(0.5 + options.level / 2);
    // A strong bias correction can move both ends to one side of the median itself.
    return {std::min(quantile_of_sorted(medians, corrected(-z)), middle),
            std::max(quantile_of_sorted(medians, corrected(z)), middle), options.level,
            IntervalMethod::bca};
}

}  // namespace

Interval order_statistics_interval(std::span<const double> values, double level) {
    return order_statistics_of_sorted(ordered_finite(values, "an interval"), level);
}

Interval bca_median_interval(std::span<const double> values, const BootstrapOptions& options) {
    return bca_of_sorted(ordered_finite(values, "an interval"), options);
}

Interval median_interval(std::span<const double> values, const BootstrapOptions& options) {
    const auto ascending = ordered_finite(values, "an interval");
    const auto n = static_cast<long long>(ascending.size());
    if (n >= smallest_n_for_bca && n <= largest_n_for_bca) return bca_of_sorted(ascending, options);
    return order_statistics_of_sorted(ascending, options.level);
}

}  // namespace assay::statistics
