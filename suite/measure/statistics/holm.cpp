#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "suite/measure/statistics/rank_tests.hpp"

namespace assay::statistics {

std::vector<double> holm(std::span<const double> p) {
    if (!std::all_of(p.begin(), p.end(), [](double v) { return v >= 0 && v <= 1; }))
        throw std::invalid_argument("Holm's correction of something outside [0, 1]");
    std::vector<std::size_t> order(p.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](auto i, auto j) { return p[i] < p[j]; });
    std::vector<double> adjusted(p.size());
    double so_far = 0;
    for (std::size_t place = 0; place < order.size(); ++place) {
        const double scaled = static_cast<double>(p.size() - place) * p[order[place]];
        so_far = std::min(1.0, std::max(so_far, scaled));
        adjusted[order[place]] = so_far;
    }
    return adjusted;
}

}  // namespace assay::statistics
