#include "suite/measure/statistics/change_points.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <vector>

namespace assay::statistics {
namespace {

using Values = std::span<const double>;

/// Sums of absolute differences between the values of a stretch, and the split of a stretch where
/// they show two distributions most clearly: the divergence of Matteson and James (arXiv
/// 1306.4933), with exponent 1.
class PairDistances {
  public:
    explicit PairDistances(Values values);

    struct Split {
        std::size_t at = 0;     ///< first value of the right part
        double divergence = 0;  ///< scaled, as the paper's q
    };
    /// The best split of [begin, end), at least two values: the first of those with the largest
    /// divergence over all ends of the right part up to `end`.
    Split best_split(std::size_t begin, std::size_t end) const;

  private:
    /// Sum over all pairs in [begin, end).
    double within(std::size_t begin, std::size_t end) const {
        return within_[begin * (count_ + 1) + end];
    }

    std::size_t count_;
    std::vector<double> within_;
};

PairDistances::PairDistances(Values values)
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

struct Moments {
    double n = 0, mean = 0, squares = 0;  ///< squares: summed squared deviations from the mean
};

// Measured from the first value, so that equal values have exactly that mean and no variance: a
// deterministic metric must not change by rounding.
Moments moments_of(Values values) {
    Moments result{static_cast<double>(values.size()), 0, 0};
    double sum = 0;
    for (const double value : values) sum += value - values.front();
    result.mean = values.front() + sum / result.n;
    for (const double value : values)
        result.squares += (value - result.mean) * (value - result.mean);
    return result;
}

// Student's two-sided test of equal means with pooled variance.
double student_p(const Moments& left, const Moments& right) {
    const double freedom = left.n + right.n - 2;
    if (left.mean == right.mean || freedom < 1) return 1;
    const double pooled = (left.squares + right.squares) / freedom;
    const double error = std::sqrt(pooled * (1 / left.n + 1 / right.n));
    const double t = std::abs(left.mean - right.mean) / error;
    if (!std::isfinite(t)) return 0;  // two constants
    const boost::math::students_t distribution(freedom);
    return 2 * boost::math::cdf(boost::math::complement(distribution, t));
}

ChangePoint tested(Values values, std::size_t begin, std::size_t at, std::size_t end) {
    const Moments left = moments_of(values.subspan(begin, at - begin));
    const Moments right = moments_of(values.subspan(at, end - at));
    return {static_cast<int>(at), left.mean, right.mean, student_p(left, right)};
}

/// Where the segment before the i-th of some points in order begins, and where that after it ends.
std::size_t begin_of(const std::vector<ChangePoint>& points, std::size_t i) {
    return i == 0 ? 0 : static_cast<std::size_t>(points[i - 1].index);
}
std::size_t end_of(const std::vector<ChangePoint>& points, std::size_t i, std::size_t count) {
    return i + 1 == points.size() ? count : static_cast<std::size_t>(points[i + 1].index);
}

ChangePoint between_neighbours(Values values, const std::vector<ChangePoint>& points,
                               std::size_t i) {
    return tested(values, begin_of(points, i), static_cast<std::size_t>(points[i].index),
                  end_of(points, i, values.size()));
}

/// E-divisive: splits one window where it diverges most, again and again, until that split is not
/// significant. In order; indices within the window.
std::vector<int> split_window(Values window, double p) {
    const PairDistances distances(window);
    std::vector<std::size_t> borders{0, window.size()};
    std::vector<int> found;
    for (;;) {
        PairDistances::Split best{0, -std::numeric_limits<double>::infinity()};
        std::size_t begin = 0, end = 0;
        for (std::size_t i = 0; i + 1 < borders.size(); ++i) {
            if (borders[i + 1] - borders[i] < 2) continue;
            const auto split = distances.best_split(borders[i], borders[i + 1]);
            if (split.divergence <= best.divergence) continue;
            best = split;
            begin = borders[i];
            end = borders[i + 1];
        }
        if (end == 0 || tested(window, begin, best.at, end).p > p) break;
        borders.insert(std::upper_bound(borders.begin(), borders.end(), best.at), best.at);
    }
    for (std::size_t i = 1; i + 1 < borders.size(); ++i)
        found.push_back(static_cast<int>(borders[i]));
    return found;
}

/// Candidates of every window; windows overlap by half, and the next one begins no earlier than at
/// the last candidate.
std::vector<ChangePoint> candidates(Values history, std::size_t window, double p) {
    std::vector<int> at;
    for (std::size_t begin = 0; begin < history.size();) {
        const auto length = std::min(window, history.size() - begin);
        const auto found = split_window(history.subspan(begin, length), p);
        for (const int index : found) at.push_back(static_cast<int>(begin) + index);
        const auto last = found.empty() ? 0 : begin + static_cast<std::size_t>(found.back());
        begin = std::max(last, begin + window / 2);
    }
    std::sort(at.begin(), at.end());
    at.erase(std::unique(at.begin(), at.end()), at.end());
    std::vector<ChangePoint> points;
    for (const int index : at) points.push_back({index, 0, 0, 1});
    for (std::size_t i = 0; i < points.size(); ++i)
        points[i] = between_neighbours(history, points, i);
    return points;
}

double magnitude(const ChangePoint& point) {
    if (point.before == point.after) return 0;
    return std::abs(point.relative_change());  // infinite where it was zero
}

/// Drops the least convincing point, which merges its neighbours, until all that are left convince.
void merge(Values history, std::vector<ChangePoint>& points, const ChangePointOptions& options) {
    while (!points.empty()) {
        auto weakest =
            std::max_element(points.begin(), points.end(),
                             [](const ChangePoint& a, const ChangePoint& b) { return a.p < b.p; });
        if (weakest->p < options.p) {
            weakest = std::min_element(points.begin(), points.end(),
                                       [](const ChangePoint& a, const ChangePoint& b) {
                                           return magnitude(a) < magnitude(b);
                                       });
            if (magnitude(*weakest) >= options.min_magnitude) return;
        }
        const auto after = static_cast<std::size_t>(points.erase(weakest) - points.begin());
        if (after > 0) points[after - 1] = between_neighbours(history, points, after - 1);
        if (after < points.size()) points[after] = between_neighbours(history, points, after);
    }
}

}  // namespace

std::vector<ChangePoint> change_points(std::span<const double> history,
                                       const ChangePointOptions& options) {
    if (options.window < 2) throw std::invalid_argument("change points in a window below 2");
    if (!(options.p > 0 && options.p < 1)) throw std::invalid_argument("change points: 0 < p < 1");
    if (!(options.first_pass >= 1) || !(options.min_magnitude >= 0))
        throw std::invalid_argument("change points: first_pass >= 1, min_magnitude >= 0");
    if (!std::all_of(history.begin(), history.end(), [](double v) { return std::isfinite(v); }))
        throw std::invalid_argument("change points of values that are not all finite");
    auto points = candidates(history, static_cast<std::size_t>(options.window),
                             std::min(1.0, options.p * options.first_pass));
    merge(history, points, options);
    return points;
}

}  // namespace assay::statistics
