#include "suite/measure/statistics/quantile.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace assay::statistics {
namespace {

std::vector<double> sorted(std::span<const double> values) {
    if (values.empty()) throw std::invalid_argument("a quantile of no values");
    std::vector<double> result(values.begin(), values.end());
    if (std::any_of(result.begin(), result.end(), [](double v) { return std::isnan(v); }))
        throw std::invalid_argument("a quantile of values that are not all numbers");
    std::sort(result.begin(), result.end());
    return result;
}

double at_share(const std::vector<double>& ordered, double share) {
    if (!(share >= 0 && share <= 1)) throw std::invalid_argument("a quantile outside [0, 1]");
    const double place = share * static_cast<double>(ordered.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const double part = place - static_cast<double>(below);
    if (part == 0) return ordered[below];  // also where the neighbour is infinite
    return ordered[below] + part * (ordered[below + 1] - ordered[below]);
}

}  // namespace

double quantile(std::span<const double> values, double share) {
    return at_share(sorted(values), share);
}

double median(std::span<const double> values) { return quantile(values, 0.5); }

Quartiles quartiles(std::span<const double> values) {
    const auto ordered = sorted(values);
    return {at_share(ordered, 0.25), at_share(ordered, 0.5), at_share(ordered, 0.75)};
}

}  // namespace assay::statistics
