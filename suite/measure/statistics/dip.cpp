// Hartigan's dip test: is there more than one mode?
#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "suite/measure/statistics/bimodality.hpp"

namespace assay::statistics {
namespace {

/// A step of the empirical distribution function: how many values lie below it and up to it.
struct Step {
    double at = 0, below = 0, up_to = 0;
};

std::vector<Step> steps_of(std::span<const double> ascending) {
    std::vector<Step> steps;
    for (std::size_t i = 0; i < ascending.size(); ++i) {
        if (i == 0 || ascending[i] != ascending[i - 1])
            steps.push_back({ascending[i], static_cast<double>(i), 0});
        steps.back().up_to = static_cast<double>(i + 1);
    }
    return steps;
}

/// A piecewise linear curve through some of the steps: the largest convex one below the feet of the
/// steps from `low` to `high`, or the smallest concave one above their tops.
class Hull {
  public:
    enum class Side { under, over };
    Hull(const std::vector<Step>& steps, std::size_t low, std::size_t high, Side side)
        : steps_(steps), side_(side) {
        for (std::size_t i = low; i <= high; ++i) {
            while (corners_.size() >= 2 &&
                   !bends(corners_[corners_.size() - 2], corners_.back(), i))
                corners_.pop_back();
            corners_.push_back(i);
        }
    }

    const std::vector<std::size_t>& corners() const { return corners_; }
    double height(std::size_t i) const {
        return side_ == Side::under ? steps_[i].below : steps_[i].up_to;
    }
    /// The curve at each step from `from` to `to`, in order: calls use(step, value).
    template <class Use>
    void walk(std::size_t from, std::size_t to, Use use) const {
        auto next = std::upper_bound(corners_.begin(), corners_.end(), from);
        for (std::size_t i = from; i <= to; ++i) {
            if (next != corners_.end() && *next <= i) ++next;
            const std::size_t left = *(next - 1);
            use(i, i == left ? height(i) : line(left, *next, steps_[i].at));
        }
    }

  private:
    double line(std::size_t left, std::size_t right, double at) const {
        const double share = (at - steps_[left].at) / (steps_[right].at - steps_[left].at);
        return height(left) + share * (height(right) - height(left));
    }
    bool bends(std::size_t i, std::size_t j, std::size_t k) const {
        const double turn = (steps_[j].at - steps_[i].at) * (height(k) - height(i)) -
                            (steps_[k].at - steps_[i].at) * (height(j) - height(i));
        return side_ == Side::under ? turn > 0 : turn < 0;
    }
    const std::vector<Step>& steps_;
    Side side_;
    std::vector<std::size_t> corners_;
};

std::size_t corner_up_to(const std::vector<std::size_t>& corners, std::size_t i) {
    return *(std::upper_bound(corners.begin(), corners.end(), i) - 1);
}
std::size_t corner_from(const std::vector<std::size_t>& corners, std::size_t i) {
    return *std::lower_bound(corners.begin(), corners.end(), i);
}

/// sqrt(n) times the dip that one of twenty uniform samples of n values exceeds. Simulated: dip()
/// of 200,000 samples of each size up to 500, 100,000 of 1000, 50,000 of 2000, 20,000 of 5000.
struct CriticalDip {
    double n, root_n_dip;
};
constexpr std::array<CriticalDip, 17> critical_dips = {{{10, 0.4422},
                                                        {12, 0.4502},
                                                        {15, 0.4597},
                                                        {20, 0.4706},
                                                        {25, 0.4784},
                                                        {30, 0.4836},
                                                        {40, 0.4908},
                                                        {50, 0.4964},
                                                        {75, 0.5066},
                                                        {100, 0.5108},
                                                        {150, 0.5174},
                                                        {200, 0.5205},
                                                        {300, 0.5258},
                                                        {500, 0.5303},
                                                        {1000, 0.5359},
                                                        {2000, 0.5370},
                                                        {5000, 0.5418}}};

/// Between two sizes of the table in the logarithm of n; beyond the last, the last, as sqrt(n)
/// times the dip has a limit.
double root_n_critical_dip(double n) {
    const auto above = std::find_if(critical_dips.begin(), critical_dips.end(),
                                    [&](const CriticalDip& row) { return row.n >= n; });
    if (above == critical_dips.end()) return critical_dips.back().root_n_dip;
    if (above->n == n) return above->root_n_dip;
    const CriticalDip& below = *(above - 1);
    return std::lerp(below.root_n_dip, above->root_n_dip,
                     std::log(n / below.n) / std::log(above->n / below.n));
}

}  // namespace

double dip(std::span<const double> ascending) {
    if (ascending.empty()) throw std::invalid_argument("the dip of no values");
    const std::vector<Step> steps = steps_of(ascending);
    const auto twice_n = 2 * static_cast<double>(ascending.size());
    std::size_t low = 0, high = steps.size() - 1;
    double worst = 1;  // in steps; one of them is always half missed
    while (true) {
        // Between the two curves lies every candidate; where they are farthest apart bounds the
        // part that holds the mode, and that part is looked at anew.
        const Hull under(steps, low, high, Hull::Side::under);
        const Hull over(steps, low, high, Hull::Side::over);
        std::vector<double> gap(high - low + 1);
        under.walk(low, high, [&](std::size_t i, double value) { gap[i - low] = -value; });
        over.walk(low, high, [&](std::size_t i, double value) { gap[i - low] += value; });
        // Concave, hence largest at a corner.
        double widest = 0;
        std::size_t new_low = low, new_high = high;
        for (std::size_t corner : under.corners())
            if (gap[corner - low] > widest)
                widest = gap[corner - low], new_low = corner,
                new_high = corner_from(over.corners(), corner);
        for (std::size_t corner : over.corners())
            if (gap[corner - low] > widest)
                widest = gap[corner - low], new_low = corner_up_to(under.corners(), corner),
                new_high = corner;
        if (widest <= worst) return worst / twice_n;
        // Outside of it the curves are the candidate: how far they are from the steps.
        under.walk(low, new_low, [&](std::size_t i, double value) {
            if (i != new_low) worst = std::max(worst, steps[i].up_to - value);
        });
        over.walk(new_high, high, [&](std::size_t i, double value) {
            if (i != new_high) worst = std::max(worst, value - steps[i].below);
        });
        if (new_low == low && new_high == high) return worst / twice_n;
        low = new_low, high = new_high;
    }
}

double critical_dip(std::size_t n) {
    const auto real_n = static_cast<double>(n);
    if (real_n < critical_dips.front().n)
        throw std::invalid_argument("the dip test of too few values");
    return root_n_critical_dip(real_n) / std::sqrt(real_n);
}

}  // namespace assay::statistics
