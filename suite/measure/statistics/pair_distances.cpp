#include "suite/measure/statistics/pair_distances.hpp"

#include <cmath>
#include <limits>

namespace assay::statistics {

PairDistances::PairDistances(std::span<const double> values)
    : count_(values.size()), within_((count_ + 1) * (count_ + 1), 0.0) {
    for (std::size_t end = 2; end <= count_; ++end) {
        double to_last = 0;  // from the last value to those from `begin` on
        for (std::size_t begin = end - 1; begin-- > 0;) {
            to_last += std::abs(values[begin] - values[end - 1]);
            within_[begin * (count_ + 1) + end] = within(begin, end - 1) + to_last;
        }
    }
}

PairDistances::Split PairDistances::best_split(std::size_t begin, std::size_t end) const {
    Split best{begin + 1, -std::numeric_limits<double>::infinity()};
    for (std::size_t at = begin + 1; at < end; ++at)
        for (std::size_t until = at + 1; until <= end; ++until) {
            const auto left = static_cast<double>(at - begin);
            const auto right = static_cast<double>(until - at);
            const double inside_left = within(begin, at), inside_right = within(at, until);
            const double between = within(begin, until) - inside_left - inside_right;
            double divergence = between;
            if (left > 1) divergence -= right / (left - 1) * inside_left;
            if (right > 1) divergence -= left / (right - 1) * inside_right;
            divergence *= 2 / (left + right);
            if (divergence > best.divergence) best = {at, divergence};
        }
    return best;
}

}  // namespace assay::statistics
