// Two methods compared at equal values of a second metric, though neither was measured at the
// other's: what a method reaches is rarely what it was asked for.
#pragma once

#include <vector>

#include "suite/claim/quantity.hpp"
#include "suite/claim/seed_interval.hpp"

namespace assay {

/// One measurement of a method: how far it went, and the logarithm of what that cost.
struct CurvePoint {
    double at = 0;
    double loss = 0;
};

/// What is known of a curve where it was not measured; infinite on a side of which nothing is.
struct CurveBounds {
    double low = 0, high = 0;
};

/// Values of the second metric that are this close count as equal (our choice): one expert of a
/// layer of fifty.
inline constexpr double equal_enough = 0.02;

/// The curve through `points` (any order, at least one). Between two points it is interpolated
/// linearly; such curves bend upwards, so that this rather overstates the loss. Beyond the last
/// point it is at least that point's, before the first at most that one's, taking for granted only
/// that going further does not help.
CurveBounds loss_at(std::vector<CurvePoint> points, double at);

/// One point of either curve: seed by seed the logarithm of the ratio of the two sides there.
struct EqualPoint {
    Case at;  ///< of the curves, and where along the axis the point was asked for
    SeedValues log_ratio;
};

/// All points of both sides, in one comparable set of observations; see `equal` in
/// datasets/claims/README.md. Only the points of one seed are compared.
std::vector<EqualPoint> at_equal(const Claim&, const Observations&);

}  // namespace assay
