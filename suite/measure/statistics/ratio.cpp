#include "suite/measure/statistics/ratio.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "suite/measure/statistics/ordered_sample.hpp"
#include "suite/measure/statistics/pair_grids.hpp"
#include "suite/measure/statistics/quantile.hpp"
#include "suite/measure/statistics/rank_sum_interval.hpp"

namespace assay::statistics {
namespace {

void require_positive(std::span<const double> values) {
    if (values.empty()) throw std::invalid_argument("a ratio of no values");
    for (double v : values)
        if (!(v > 0 && std::isfinite(v)))
            throw std::invalid_argument("a ratio of values that are not all positive and finite");
}

}  // namespace

Ratio paired_ratio(std::span<const double> a, std::span<const double> b,
                   const BootstrapOptions& options) {
    require_positive(a);
    require_positive(b);
    if (a.size() != b.size())
        throw std::invalid_argument("a paired ratio of samples of different length");
    std::vector<double> ratios(a.size());
    std::transform(b.begin(), b.end(), a.begin(), ratios.begin(), std::divides());
    const int n = static_cast<int>(a.size());
    return {median(ratios), median_interval(ratios, options), n, n, true};
}

Ratio unpaired_ratio(std::span<const double> a, std::span<const double> b, double level) {
    require_positive(a);
    require_positive(b);
    const PairSelection quotients(
        QuotientGrid{ordered_finite(a, "a ratio"), ordered_finite(b, "a ratio")});
    const auto [low, high] = quotients.middle();
    // The geometric mean of the two in the middle, which is the mean of their logarithms.
    return {low * std::sqrt(high / low), rank_sum_interval(quotients, a.size(), b.size(), level),
            static_cast<int>(a.size()), static_cast<int>(b.size()), false};
}

bool has_unpaired_interval(std::size_t n_a, std::size_t n_b, double level) {
    return n_a > 0 && n_b > 0 && lower_pair_rank(n_a, n_b, level).has_value();
}

}  // namespace assay::statistics
