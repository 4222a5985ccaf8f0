// Medians of bootstrap resamples.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace assay::statistics {

/// Medians of `resamples` (rounded up to an even number) samples drawn with replacement from values
/// in ascending order, sorted. Every second resample mirrors the ranks of the one before it: half
/// the work, and the interval of -x, or of B against A, is the mirror image of that of x up to
/// interpolation. std::invalid_argument: no values, no resamples.
std::vector<double> bootstrap_medians(std::span<const double> ascending, int resamples,
                                      std::uint64_t seed);

}  // namespace assay::statistics
