// Two methods compared at equal measured sparsity, though neither was measured at the other's: what
// a method reaches is rarely what it was asked for.
#pragma once

#include <vector>

namespace assay::lte {

/// One measurement of a method.
struct QualityPoint {
    double sparsity = 0;  ///< counted, not asked for
    double loss = 0;      ///< natural logarithm of the perplexity
};

/// What is known about a method's loss where it was not measured; infinite on a side of which
/// nothing is known.
struct LossBounds {
    double low = 0, high = 0;
};

/// Sparsities this close count as equal (our choice): one expert of a layer of fifty.
inline constexpr double equal_sparsity = 0.02;

/// Of the method measured at `points` (any order, at least one). Between two points the loss is
/// interpolated linearly; loss curves bend upwards, so that this rather overstates it. Beyond the
/// last point the loss is at least that point's, before the first at most that one's, taking for
/// granted only that leaving more out does not help.
LossBounds loss_at(std::vector<QualityPoint> points, double sparsity);

}  // namespace assay::lte
