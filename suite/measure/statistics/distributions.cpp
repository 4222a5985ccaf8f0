#include "suite/measure/statistics/distributions.hpp"

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>

namespace assay::statistics {

// Normal and fair coin.

double normal_cdf(double z) { return 0.5 * boost::math::erfc(-z / std::sqrt(2.0)); }

double normal_quantile(double p) { return -std::sqrt(2.0) * boost::math::erfc_inv(2 * p); }

double fair_binomial_cdf(long long k, long long n) {
    if (k < 0) return 0;
    if (k >= n) return 1;
    return boost::math::ibetac(static_cast<double>(k + 1), static_cast<double>(n - k), 0.5);
}

// Rank sums.

namespace {

constexpr std::uint64_t kMostPairs = 100'000;

/// Binomial coefficient as a real number: good to a few digits, exact enough to compare sizes.
double arrangements(std::uint64_t n_a, std::uint64_t n_b) {
    double product = 1;
    for (std::uint64_t i = 1; i <= std::min(n_a, n_b); ++i)
        product *= static_cast<double>(std::max(n_a, n_b) + i) / static_cast<double>(i);
    return product;
}

/// Arrangements of each U: the coefficients of the Gaussian binomial, the product over i of
/// (1 - q^(larger + i)) / (1 - q^i). Unsigned words wrap in between; the results fit.
std::vector<std::uint64_t> count_per_u(std::uint64_t smaller, std::uint64_t larger) {
    std::vector<std::uint64_t> count(smaller * larger + 1, 0);
    count[0] = 1;
    for (std::uint64_t i = 1; i <= smaller; ++i) {
        for (std::uint64_t u = count.size(); u-- > larger + i;) count[u] -= count[u - larger - i];
        for (std::uint64_t u = i; u < count.size(); ++u) count[u] += count[u - i];
    }
    return count;
}

}  // namespace

RankSumDistribution::RankSumDistribution(std::uint64_t n_a, std::uint64_t n_b)
    : n_a_(n_a), n_b_(n_b), pairs_(static_cast<double>(n_a) * static_cast<double>(n_b)) {
    deviation_ = std::sqrt(pairs_ / 12 * static_cast<double>(n_a + n_b + 1));
    if (pairs_ > kMostPairs || arrangements(n_a, n_b) > 0x1p63) return;
    up_to_ = count_per_u(std::min(n_a, n_b), std::max(n_a, n_b));
    for (std::size_t u = 1; u < up_to_.size(); ++u) up_to_[u] += up_to_[u - 1];
}

double RankSumDistribution::cdf(std::int64_t u) const {
    if (u < 0) return 0;
    if (!exact()) return normal_cdf((static_cast<double>(u) + 0.5 - pairs_ / 2) / deviation_);
    const std::uint64_t at = std::min<std::uint64_t>(u, up_to_.size() - 1);
    return static_cast<double>(up_to_[at]) / static_cast<double>(up_to_.back());
}

std::int64_t RankSumDistribution::largest_at_most(double p) const {
    if (!exact()) {
        const double u = pairs_ / 2 - 0.5 + normal_quantile(p) * deviation_;
        return std::max<std::int64_t>(-1, static_cast<std::int64_t>(std::floor(u)));
    }
    std::int64_t u = -1;
    while (cdf(u + 1) <= p) ++u;
    return u;
}

double RankSumDistribution::widest_coverage() const { return 1 - 2 / arrangements(n_a_, n_b_); }

}  // namespace assay::statistics
