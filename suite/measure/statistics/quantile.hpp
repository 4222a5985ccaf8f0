// Order statistics: samples checked and sorted, their quantiles, and which values lie far outside.
#pragma once

#include <span>
#include <vector>

namespace assay::statistics {

/// In ascending order. std::invalid_argument, with `what` as its subject: NaN among the values.
std::vector<double> ordered(std::span<const double> values, const char* what);
/// Also where a value is infinite.
std::vector<double> ordered_finite(std::span<const double> values, const char* what);

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

enum class Outlier { none, mild, severe };
/// Tukey's fences: mild beyond 1.5, severe beyond 3 interquartile ranges from the quartiles. Fewer
/// than five values: none is marked. Marked values are shown, never dropped.
std::vector<Outlier> outliers(std::span<const double> values);

}  // namespace assay::statistics
