#include "suite/measure/statistics/quantile.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace assay::statistics {

std::vector<double> ordered(std::span<const double> values, const char* what) {
    if (std::any_of(values.begin(), values.end(), [](double v) { return std::isnan(v); }))
        throw std::invalid_argument(std::string(what) + " of values that are not all numbers");
    std::vector<double> result(values.begin(), values.end());
    std::sort(result.begin(), result.end());
    return result;
}

std::vector<double> ordered_finite(std::span<const double> values, const char* what) {
    std::vector<double> result = ordered(values, what);
    if (!result.empty() && (std::isinf(result.front()) || std::isinf(result.back())))
        throw std::invalid_argument(std::string(what) + " of values that are not all finite");
    return result;
}

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

std::vector<Outlier> outliers(std::span<const double> values) {
    std::vector<Outlier> marks(values.size(), Outlier::none);
    constexpr std::size_t kFewest = 5;
    if (values.size() < kFewest) return marks;
    const Quartiles q = quartiles(values);
    const auto beyond = [&](double v, double ranges) {
        return v < q.first - ranges * q.range() || v > q.third + ranges * q.range();
    };
    for (std::size_t i = 0; i < values.size(); ++i)
        marks[i] = beyond(values[i], 3.0)   ? Outlier::severe
                   : beyond(values[i], 1.5) ? Outlier::mild
                                            : Outlier::none;
    return marks;
}

}  // namespace assay::statistics
