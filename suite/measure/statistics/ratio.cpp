#include "suite/measure/statistics/ratio.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "suite/measure/statistics/distributions.hpp"
#include "suite/measure/statistics/quantile.hpp"

namespace assay::statistics {
namespace {

void require_positive(std::span<const double> values) {
    if (values.empty()) throw std::invalid_argument("a ratio of no values");
    for (double v : values)
        if (!(v > 0 && std::isfinite(v)))
            throw std::invalid_argument("a ratio of values that are not all positive and finite");
}

/// The k-th smallest of all quotients b / a, without making them all: memory and the work of one
/// round grow with the number of values, not of pairs. In the order of the differences of the
/// logarithms, but without taking any, so that scaling by two changes no digit.
class PairQuotients {
  public:
    PairQuotients(std::span<const double> a, std::span<const double> b)
        : a_(ordered_finite(a, "a ratio")), b_(ordered_finite(b, "a ratio")) {}

    std::uint64_t count() const { return std::uint64_t{a_.size()} * b_.size(); }

    /// 0 <= rank < count(). Bisects between doubles until few pairs are left: at most 64 rounds,
    /// about log2(pairs / values) of them where the values are of one order of magnitude.
    double at(std::uint64_t rank) const {
        std::int64_t low = place(value(a_.size() - 1, 0)) - 1,
                     high = place(value(0, b_.size() - 1));
        Cut below{.count = 0, .ends = std::vector<std::uint32_t>(a_.size())}, up_to = cut_at(high);
        const std::uint64_t few = 2 * (a_.size() + b_.size());
        while (up_to.count - below.count > few) {
            if (high - low == 1) return std::bit_cast<double>(high);  // all that is left is this
            const std::int64_t middle = std::midpoint(low, high);
            Cut cut = cut_at(middle);
            const bool is_within = cut.count > rank;
            (is_within ? high : low) = middle;
            (is_within ? up_to : below) = std::move(cut);
        }
        std::vector<double> left;
        left.reserve(up_to.count - below.count);
        for (std::size_t row = 0; row < a_.size(); ++row)
            for (std::size_t column = below.ends[row]; column < up_to.ends[row]; ++column)
                left.push_back(value(row, column));
        const auto wanted = left.begin() + static_cast<std::ptrdiff_t>(rank - below.count);
        std::nth_element(left.begin(), wanted, left.end());
        return *wanted;
    }

    /// The two in the middle: the same one twice when their number is odd.
    std::pair<double, double> middle() const {
        const double high = at(count() / 2);
        return {count() % 2 ? high : at(count() / 2 - 1), high};
    }

  private:
    struct Cut {  ///< all pairs up to a value
        std::uint64_t count = 0;
        std::vector<std::uint32_t> ends;  ///< per row, one past the last column
    };

    /// Not falling along a row, not rising along a column.
    double value(std::size_t row, std::size_t column) const { return b_[column] / a_[row]; }

    /// Doubles that are not negative, in their order.
    static std::int64_t place(double value) { return std::bit_cast<std::int64_t>(value); }

    Cut cut_at(std::int64_t place) const {
        const auto limit = std::bit_cast<double>(place);
        Cut cut{.count = 0, .ends = std::vector<std::uint32_t>(a_.size())};
        std::size_t end = 0;
        for (std::size_t row = 0; row < a_.size(); ++row) {
            while (end < b_.size() && value(row, end) <= limit) ++end;
            cut.ends[row] = static_cast<std::uint32_t>(end);
            cut.count += end;
        }
        return cut;
    }

    std::vector<double> a_, b_;
};

/// Rank of the interval's lower end among all pairs, from 0; the upper end mirrors it. nullopt: too
/// few values for this level.
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

}  // namespace

Ratio paired_ratio(std::span<const double> a, std::span<const double> b, double level) {
    require_positive(a);
    require_positive(b);
    if (a.size() != b.size())
        throw std::invalid_argument("a paired ratio of samples of different length");
    std::vector<double> ratios(a.size());
    std::transform(b.begin(), b.end(), a.begin(), ratios.begin(), std::divides());
    const int n = static_cast<int>(a.size());
    return {median(ratios), median_interval(ratios, level), n, n, true};
}

Ratio unpaired_ratio(std::span<const double> a, std::span<const double> b, double level) {
    require_positive(a);
    require_positive(b);
    const PairQuotients quotients(a, b);
    const auto [low, high] = quotients.middle();
    Interval interval = no_interval(level);
    if (const auto rank = lower_pair_rank(a.size(), b.size(), level))
        interval = {.low = quotients.at(*rank),
                    .high = quotients.at(quotients.count() - 1 - *rank),
                    .level = level,
                    .method = IntervalMethod::rank_sum};
    // The geometric mean of the two in the middle, which is the mean of their logarithms.
    return {low * std::sqrt(high / low), interval, static_cast<int>(a.size()),
            static_cast<int>(b.size()), false};
}

bool has_unpaired_interval(std::size_t n_a, std::size_t n_b, double level) {
    return n_a > 0 && n_b > 0 && lower_pair_rank(n_a, n_b, level).has_value();
}

}  // namespace assay::statistics
