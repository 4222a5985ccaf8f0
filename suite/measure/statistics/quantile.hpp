// Order statistics of a handful of numbers.
#pragma once

#include <span>
#include <vector>

namespace assay::statistics {

/// Linear interpolation between order statistics (Hyndman and Fan's type 7, the default of NumPy
/// and R). `share` in [0, 1]. std::invalid_argument: no values, NaN among them, a share outside.
double quantile(std::span<const double> values, double share);
double median(std::span<const double> values);
/// The same of values in ascending order, which is not checked.
double quantile_of_sorted(std::span<const double> ascending, double share);

struct Quartiles {
    double first = 0, median = 0, third = 0;
    double range() const { return third - first; }  ///< interquartile range
};
Quartiles quartiles(std::span<const double> values);

}  // namespace assay::statistics
