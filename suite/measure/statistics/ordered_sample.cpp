#include "suite/measure/statistics/ordered_sample.hpp"

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

}  // namespace assay::statistics
