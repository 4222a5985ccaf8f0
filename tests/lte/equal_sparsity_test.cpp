// What is known of a loss between and beyond the points at which it was measured.
#include "impls/lte/experiments/equal_sparsity.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

namespace assay::lte {
namespace {

const std::vector<QualityPoint> curve{{0.8, 3.0}, {0.2, 1.0}, {0.4, 1.5}};  // not in order
constexpr double unknown = std::numeric_limits<double>::infinity();

TEST(LteEqualSparsity, InterpolatesBetweenNeighbours) {
    for (const auto& [sparsity, loss] :
         {std::pair{0.2, 1.0}, {0.3, 1.25}, {0.4, 1.5}, {0.6, 2.25}, {0.8, 3.0}}) {
        EXPECT_NEAR(loss_at(curve, sparsity).low, loss, 1e-12) << sparsity;
        EXPECT_NEAR(loss_at(curve, sparsity).high, loss, 1e-12) << sparsity;
    }
}

TEST(LteEqualSparsity, BeyondTheEndsOnlyMonotonyIsTakenForGranted) {
    EXPECT_EQ(loss_at(curve, 0.1).low, -unknown);
    EXPECT_EQ(loss_at(curve, 0.1).high, 1.0);
    EXPECT_EQ(loss_at(curve, 0.9).low, 3.0);
    EXPECT_EQ(loss_at(curve, 0.9).high, unknown);
}

TEST(LteEqualSparsity, NearlyEqualCountsAsEqual) {
    EXPECT_EQ(loss_at(curve, 0.185).low, 1.0);
    EXPECT_EQ(loss_at(curve, 0.815).high, 3.0);
    EXPECT_EQ(loss_at(curve, 0.175).low, -unknown);
    EXPECT_EQ(loss_at(curve, 0.825).high, unknown);
}

TEST(LteEqualSparsity, OnePointIsACurve) {
    EXPECT_EQ(loss_at({{0.5, 2}}, 0.51).low, 2);
    EXPECT_EQ(loss_at({{0.5, 2}}, 0.9).low, 2);
    EXPECT_THROW(loss_at({}, 0.5), std::invalid_argument);
}

TEST(LteEqualSparsity, TwoMeasurementsAtOneSparsityAreNoTrap) {
    const LossBounds bounds = loss_at({{0.2, 1}, {0.5, 2}, {0.5, 2.2}, {0.8, 3}}, 0.5);
    EXPECT_GE(bounds.low, 2);
    EXPECT_LE(bounds.high, 2.2);
}

}  // namespace
}  // namespace assay::lte
