// The dip: how far a sample's distribution function is from the nearest one with a single mode.
#pragma once

#include <span>

namespace assay::statistics {

/// Hartigan and Hartigan (1985): the least possible largest distance between the empirical
/// distribution function and one that is convex up to a mode and concave after it. Between 1 / (2n)
/// and 1/4. Values in ascending order, at least one.
double dip(std::span<const double> ascending);

/// P(a dip at least as large) in n values of a uniform distribution, the hardest of those with one
/// mode: interpolated in a table that was simulated (dip_table.hpp). Never below 1e-4, where the
/// table ends. n >= 4.
double dip_p_value(double dip, std::size_t n);

}  // namespace assay::statistics
