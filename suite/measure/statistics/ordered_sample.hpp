// Samples as the statistics want them: checked and in ascending order.
#pragma once

#include <span>
#include <vector>

namespace assay::statistics {

/// std::invalid_argument, with `what` as its subject: NaN among the values.
std::vector<double> ordered(std::span<const double> values, const char* what);
/// Also where a value is infinite.
std::vector<double> ordered_finite(std::span<const double> values, const char* what);

}  // namespace assay::statistics
