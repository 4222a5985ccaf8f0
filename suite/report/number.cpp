// How numbers read in tables and tooltips.
#include <fmt/format.h>

#include <cmath>

#include "suite/report/report.hpp"

namespace assay::report {

std::string number(double value) {
    if (value == 0) return "0";  // also -0.0
    if (value == std::floor(value) && std::abs(value) < 1e6) return fmt::format("{:.0f}", value);
    return fmt::format("{:.4g}", value);
}

std::string number(double median, double low, double high) {
    if (low == high) return number(median);
    return fmt::format("{} ({}–{})", number(median), number(low), number(high));
}

}  // namespace assay::report
