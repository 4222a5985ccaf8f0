// Which pairs bound the interval that inverts the Mann-Whitney test.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "suite/measure/statistics/interval.hpp"
#include "suite/measure/statistics/pair_selection.hpp"
#include "suite/measure/statistics/rank_sum_distribution.hpp"

namespace assay::statistics {

/// Rank of the lower end among all pairs, from 0; the upper end mirrors it. nullopt: too few values
/// for this level. std::invalid_argument: a level outside (0, 1).
std::optional<std::uint64_t> lower_pair_rank(std::uint64_t n_a, std::uint64_t n_b, double level);

/// Interval over the pairs of `grid` (rows of A, columns of B).
template <class Grid>
Interval rank_sum_interval(const PairSelection<Grid>& pairs, std::uint64_t n_a, std::uint64_t n_b,
                           double level) {
    constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
    const auto rank = lower_pair_rank(n_a, n_b, level);
    if (!rank) return {kNaN, kNaN, level, IntervalMethod::none};
    return {pairs.at(*rank), pairs.at(pairs.count() - 1 - *rank), level, IntervalMethod::rank_sum};
}

}  // namespace assay::statistics
