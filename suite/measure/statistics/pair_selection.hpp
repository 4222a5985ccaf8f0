// The k-th smallest of a number for every pair of two samples, without making all the pairs: what
// Hodges-Lehmann estimates and their intervals are made of. Memory and the work of one round grow
// with the number of values, not of pairs; there are about log2(pairs / values) rounds.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace assay::statistics {

/// A point between two doubles, low < high: in the middle of their values, or (`by_bits`) in the
/// middle of the doubles that lie between them, which ends after 64 rounds at most.
inline double between(double low, double high, bool by_bits) {
    const double middle = low + (high - low) / 2;
    if (!by_bits && std::isfinite(middle)) return middle;
    const auto place = [](double v) {  // in the order of all doubles
        const auto bits = std::bit_cast<std::int64_t>(v);
        return bits < 0 ? std::numeric_limits<std::int64_t>::min() - bits : bits;
    };
    const std::int64_t at = std::midpoint(place(low), place(high));
    return std::bit_cast<double>(at < 0 ? std::numeric_limits<std::int64_t>::min() - at : at);
}

/// Grid: rows() and columns(); value(row, column), not falling along a row, not rising along a
/// column, never NaN; first(row), the first column that counts.
template <class Grid>
class PairSelection {
  public:
    explicit PairSelection(Grid grid) : grid_(std::move(grid)) {
        for (std::size_t row = 0; row < grid_.rows(); ++row)
            count_ += grid_.columns() - grid_.first(row);
    }

    std::uint64_t count() const { return count_; }

    /// 0 <= rank < count().
    double at(std::uint64_t rank) const {
        Cut low = cut_at(below_all()), high = cut_at(grid_.value(0, grid_.columns() - 1));
        const std::uint64_t few = 2 * (grid_.rows() + grid_.columns());
        for (int round = 0; high.count - low.count > few; ++round) {
            // Halving the values soon isolates the rank unless they span many powers of ten.
            constexpr int kRoundsByValue = 40;
            const double middle = between(low.value, high.value, round >= kRoundsByValue);
            if (!(low.value < middle && middle < high.value)) {
                if (round < kRoundsByValue) continue;
                return high.value;  // neighbouring doubles: all that is left is this one
            }
            Cut cut = cut_at(middle);
            (cut.count > rank ? high : low) = std::move(cut);
        }
        std::vector<double> left;
        left.reserve(high.count - low.count);
        for (std::size_t row = 0; row < grid_.rows(); ++row)
            for (std::size_t column = low.ends[row]; column < high.ends[row]; ++column)
                left.push_back(grid_.value(row, column));
        const auto place = left.begin() + static_cast<std::ptrdiff_t>(rank - low.count);
        std::nth_element(left.begin(), place, left.end());
        return *place;
    }

    /// The two in the middle: the same one twice when their number is odd.
    std::pair<double, double> middle() const {
        const double high = at(count_ / 2);
        return {count_ % 2 ? high : at(count_ / 2 - 1), high};
    }

  private:
    struct Cut {  ///< all pairs up to a value
        double value = 0;
        std::uint64_t count = 0;
        std::vector<std::uint32_t> ends;  ///< per row, one past the last column
    };

    double below_all() const {
        return std::nextafter(grid_.value(grid_.rows() - 1, 0),
                              -std::numeric_limits<double>::infinity());
    }

    Cut cut_at(double value) const {
        Cut cut{value, 0, std::vector<std::uint32_t>(grid_.rows())};
        std::size_t end = 0;
        for (std::size_t row = 0; row < grid_.rows(); ++row) {
            while (end < grid_.columns() && grid_.value(row, end) <= value) ++end;
            cut.ends[row] = static_cast<std::uint32_t>(std::max(end, grid_.first(row)));
            cut.count += cut.ends[row] - grid_.first(row);
        }
        return cut;
    }

    Grid grid_;
    std::uint64_t count_ = 0;
};

}  // namespace assay::statistics
