#include <stdexcept>

#include "suite/measure/statistics/attainable_level.hpp"
#include "suite/measure/statistics/ordered_sample.hpp"
#include "suite/measure/statistics/pair_grids.hpp"
#include "suite/measure/statistics/rank_sum_interval.hpp"
#include "suite/measure/statistics/rank_tests.hpp"

namespace assay::statistics {
namespace {

constexpr char kShift[] = "a Hodges-Lehmann shift";

PairSelection<DifferenceGrid> differences(std::span<const double> a, std::span<const double> b) {
    if (a.empty() || b.empty()) throw std::invalid_argument("a Hodges-Lehmann shift of no values");
    return PairSelection(DifferenceGrid{ordered_finite(a, kShift), ordered_finite(b, kShift)});
}

}  // namespace

std::optional<std::uint64_t> lower_pair_rank(std::uint64_t n_a, std::uint64_t n_b, double level) {
    const RankSumDistribution u(n_a, n_b);
    const auto attainable = attainable_level(level, u.widest_coverage());
    if (!attainable) return std::nullopt;
    // A test at 1 - level rejects the shifts with at most so many pairs on one side. Rounding of a
    // level that the outermost pair just attains must not cost that pair.
    const std::int64_t rejected = u.largest_at_most((1 - *attainable) / 2 * (1 + 1e-12));
    if (rejected < 0) return std::nullopt;
    return static_cast<std::uint64_t>(rejected);
}

double hodges_lehmann_shift(std::span<const double> a, std::span<const double> b) {
    const auto [low, high] = differences(a, b).middle();
    return low / 2 + high / 2;
}

Interval hodges_lehmann_interval(std::span<const double> a, std::span<const double> b,
                                 double level) {
    return rank_sum_interval(differences(a, b), a.size(), b.size(), level);
}

double hodges_lehmann(std::span<const double> values) {
    if (values.empty()) throw std::invalid_argument("a pseudo-median of no values");
    const auto [low, high] =
        PairSelection(AverageGrid{ordered_finite(values, "a pseudo-median")}).middle();
    return low / 2 + high / 2;
}

}  // namespace assay::statistics
