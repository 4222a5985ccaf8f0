#include "suite/experiment/rate_curve.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace assay {

RateCurve::RateCurve(double duration_s, double bin_s)
    : bin_s_(bin_s), per_s_(static_cast<std::size_t>(std::ceil(duration_s / bin_s)), 0) {
    for (std::size_t bin = 0; bin < per_s_.size(); ++bin)
        t_s_.push_back((static_cast<double>(bin) + 0.5) * bin_s);
}

void RateCurve::add(double from_s, double to_s, double amount) {
    const double rate = amount / (to_s - from_s);
    for (double at = from_s; at < to_s;) {
        const auto bin = std::min(per_s_.size() - 1, static_cast<std::size_t>(at / bin_s_));
        const double bin_end = static_cast<double>(bin + 1) * bin_s_;
        const double until = bin + 1 == per_s_.size() ? to_s : std::min(to_s, bin_end);
        per_s_[bin] += rate * (until - at) / bin_s_;
        at = until;
    }
}

}  // namespace assay
