#include "suite/measure/statistics/bimodality.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "suite/measure/statistics/quantile.hpp"

namespace assay::statistics {
namespace {

// What a claim of two clusters needs (measured in tests/statistics/bimodality_test.cpp).
constexpr std::size_t kFewestValues = 10;
constexpr double kSmallestShare = 0.1;  // fewer are outliers, which outliers() marks
constexpr std::size_t kFewestInCluster = 2;
// A uniform sample cut in the middle has D = sqrt(12) = 3.5, a normal one 2.7; clusters that do not
// overlap have more than about 5. A small sample has wide gaps by chance.
double least_separation(std::size_t n) { return 5 + 25 / static_cast<double>(n); }

struct Moments {
    double mean = 0, variance = 0;
};

/// Sums over the first values, of values shifted to the median so that small spreads keep digits.
class RunningSums {
  public:
    explicit RunningSums(std::span<const double> ascending) {
        const double middle = quantile_of_sorted(ascending, 0.5);
        for (double v : ascending) {
            sums_.push_back(sums_.back() + (v - middle));
            squares_.push_back(squares_.back() + (v - middle) * (v - middle));
        }
    }
    Moments of(std::size_t from, std::size_t to) const {
        const auto n = static_cast<double>(to - from);
        const double mean = (sums_[to] - sums_[from]) / n;
        return {mean, std::max(0.0, (squares_[to] - squares_[from]) / n - mean * mean)};
    }

  private:
    std::vector<double> sums_{0}, squares_{0};
};

/// Where the values fall apart into two groups with the least variance within them; each holds at
/// least `fewest`. One past the last value of the lower group.
std::size_t best_split(std::span<const double> ascending, std::size_t fewest) {
    const RunningSums sums(ascending);
    const std::size_t n = ascending.size();
    std::size_t best = fewest;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t at = fewest; at <= n - fewest; ++at) {
        const double within = static_cast<double>(at) * sums.of(0, at).variance +
                              static_cast<double>(n - at) * sums.of(at, n).variance;
        if (within < least) least = within, best = at;
    }
    return best;
}

/// Mean and variance in two passes: of a cluster far from zero nothing cancels.
Moments moments(std::span<const double> values) {
    Moments result;
    const auto n = static_cast<double>(values.size());
    for (double v : values) result.mean += (v - values.front()) / n;
    for (double v : values)
        result.variance += std::pow(v - values.front() - result.mean, 2) / (n - 1);
    result.mean += values.front();
    return result;
}

/// Ashman, Bird and Zepf (1994), equation 5. Infinite for two values that repeat; 0 for one.
double ashman_d(const Moments& low, const Moments& high) {
    if (high.mean == low.mean) return 0;
    return std::sqrt(2.0) * (high.mean - low.mean) / std::sqrt(low.variance + high.variance);
}

}  // namespace

Bimodality bimodality(std::span<const double> values) {
    const auto ascending = ordered_finite(values, "a test for two clusters");
    const std::size_t n = ascending.size();
    Bimodality result;
    if (n < kFewestValues) return result;
    const auto fewest =
        std::max(kFewestInCluster, static_cast<std::size_t>(std::ceil(kSmallestShare * double(n))));
    const std::size_t split = best_split(ascending, fewest);
    const std::span<const double> all(ascending), lower = all.first(split),
                                                  upper = all.subspan(split);
    result.separation = ashman_d(moments(lower), moments(upper));
    result.low = quantile_of_sorted(lower, 0.5);
    result.high = quantile_of_sorted(upper, 0.5);
    result.share_high = static_cast<double>(upper.size()) / static_cast<double>(n);
    result.bimodal = result.separation > least_separation(n) && dip(all) > critical_dip(n);
    return result;
}

}  // namespace assay::statistics
