#include "suite/measure/statistics/dip.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

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

}  // namespace assay::statistics
