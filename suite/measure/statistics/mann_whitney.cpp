#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "suite/measure/statistics/distributions.hpp"
#include "suite/measure/statistics/ordered_sample.hpp"
#include "suite/measure/statistics/rank_sum_distribution.hpp"
#include "suite/measure/statistics/rank_tests.hpp"

namespace assay::statistics {
namespace {

struct Ranking {
    double u = 0;     ///< pairs with a > b, ties between the sides counting half
    double ties = 0;  ///< sum of t^3 - t over groups of t equal values
};

/// One walk over both sorted samples.
Ranking rank(const std::vector<double>& a, const std::vector<double>& b) {
    Ranking result;
    std::size_t i = 0, j = 0;
    while (i < a.size() || j < b.size()) {
        const double value = j == b.size() || (i < a.size() && a[i] <= b[j]) ? a[i] : b[j];
        const std::size_t first_a = i, first_b = j;
        while (i < a.size() && a[i] == value) ++i;
        while (j < b.size() && b[j] == value) ++j;
        const auto of_a = static_cast<double>(i - first_a);
        const auto of_b = static_cast<double>(j - first_b);
        result.u += of_a * (static_cast<double>(first_b) + of_b / 2);
        const double tied = of_a + of_b;
        result.ties += tied * tied * tied - tied;
    }
    return result;
}

}  // namespace

MannWhitney mann_whitney(std::span<const double> a, std::span<const double> b) {
    if (a.empty() || b.empty()) throw std::invalid_argument("a Mann-Whitney test of no values");
    const auto [u, ties] =
        rank(ordered(a, "a Mann-Whitney test"), ordered(b, "a Mann-Whitney test"));
    const auto n_a = static_cast<double>(a.size()), n_b = static_cast<double>(b.size());
    const double pairs = n_a * n_b, all = n_a + n_b;
    if (ties == 0) {
        const RankSumDistribution distribution(a.size(), b.size());
        if (distribution.exact()) {
            const auto smaller = static_cast<std::int64_t>(std::min(u, pairs - u));
            return {u, std::min(1.0, 2 * distribution.cdf(smaller)), true};
        }
    }
    const double variance = pairs / 12 * (all + 1 - ties / (all * (all - 1)));
    if (!(variance > 0)) return {u, 1, false};  // every value the same
    const double z = (std::abs(u - pairs / 2) - 0.5) / std::sqrt(variance);
    return {u, std::min(1.0, 2 * normal_cdf(-z)), false};
}

}  // namespace assay::statistics
