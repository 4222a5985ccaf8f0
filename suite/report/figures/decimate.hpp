// Which points of a long curve are worth painting.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "suite/report/figures/view_window.hpp"

namespace assay::report {

/// Indices, ascending, of the points to paint on `width` pixels: all of at most `width` finite
/// ones; of more, for each pixel the lowest and highest, so that nothing that sticks out is lost,
/// and the first and last where the pixel before or after it has none: at most 4 · width. `values`
/// are in order of time, as many as `times`; values that are not finite are never painted.
std::vector<std::size_t> points_to_paint(std::span<const double> times,
                                         std::span<const double> values, std::size_t width);

/// The same of the points within `seen`, and one more on either side of it, so that the curve goes
/// on to the edges.
std::vector<std::size_t> points_to_paint(std::span<const double> times,
                                         std::span<const double> values, std::size_t width,
                                         const Range& seen);

}  // namespace assay::report
