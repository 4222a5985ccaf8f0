#include "suite/measure/statistics/quantile.hpp"

#include <stdexcept>

#include "suite/measure/statistics/ordered_sample.hpp"

namespace assay::statistics {

double quantile_of_sorted(std::span<const double> ascending, double share) {
    if (ascending.empty()) throw std::invalid_argument("a quantile of no values");
    if (!(share >= 0 && share <= 1)) throw std::invalid_argument("a quantile outside [0, 1]");
    const double place = share * static_cast<double>(ascending.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const double part = place - static_cast<double>(below);
    if (part == 0) return ascending[below];  // also where the neighbour is infinite
    return ascending[below] + part * (ascending[below + 1] - ascending[below]);
}

double quantile(std::span<const double> values, double share) {
    return quantile_of_sorted(ordered(values, "a quantile"), share);
}

double median(std::span<const double> values) { return quantile(values, 0.5); }

Quartiles quartiles(std::span<const double> values) {
    const auto ascending = ordered(values, "quartiles");
    return {quantile_of_sorted(ascending, 0.25), quantile_of_sorted(ascending, 0.5),
            quantile_of_sorted(ascending, 0.75)};
}

}  // namespace assay::statistics
