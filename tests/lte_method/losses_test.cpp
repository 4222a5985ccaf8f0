// Eqs. 4 to 6, and what follows from them about training (section 4.1 of the specification).
#include "impls/lte/method/losses.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

namespace assay::lte {
namespace {

constexpr double tau = 0.5;

at::Tensor scores_of(std::vector<double> values, bool grad = false) {
    auto scores = at::tensor(values, at::kDouble);
    return scores.requires_grad_(grad);
}

// d/dG of eta·G² + lambda / ((G − tau)² + eps): negative values push G up.
double slope(double score, double eta, double lambda, double eps = 0) {
    auto scores = scores_of({score}, true);
    (eta * efficiency_loss(scores) + lambda * separability_loss(scores, tau, eps)).backward();
    return scores.grad().item<double>();
}

TEST(Losses, AreTheMeansOfThePaper) {
    const auto scores = at::tensor({0.0, 0.25, 0.9, 1.0}, at::kDouble).view({2, 2});
    EXPECT_DOUBLE_EQ(efficiency_loss(scores).item<double>(), (0 + 0.0625 + 0.81 + 1) / 4);
    EXPECT_NEAR(separability_loss(scores, tau, 0).item<double>(), (4 + 16 + 6.25 + 4) / 4, 1e-12);
}

TEST(Losses, SeparabilityIsLeastWhereScoresAreZeroOrOne) {
    EXPECT_DOUBLE_EQ(separability_loss(scores_of({0, 1, 1}), tau, 0).item<double>(), 4);
    for (double score = 0.001; score < 1; score += 0.00713)
        EXPECT_GT(separability_loss(scores_of({score}), tau, 0).item<double>(), 4);
}

TEST(Losses, GuardMakesTheThresholdHarmless) {
    EXPECT_TRUE(std::isinf(separability_loss(scores_of({tau}), tau, 0).item<double>()));
    auto scores = scores_of({tau, 0.7}, true);
    const auto loss = separability_loss(scores, tau, 1e-2);
    EXPECT_NEAR(loss.item<double>(), (100 + 20) / 2.0, 1e-9);
    loss.backward();
    EXPECT_EQ(scores.grad()[0].item<double>(), 0);
    EXPECT_TRUE(scores.grad().isfinite().all().item<bool>());
}

TEST(Barrier, FullScoreIsPushedDownOnlyByEtaAboveEightLambda) {
    const double lambda = 0.5;
    EXPECT_LT(slope(1, 0.99 * 8 * lambda, lambda), 0);
    EXPECT_NEAR(slope(1, 8 * lambda, lambda), 0, 1e-12);
    EXPECT_GT(slope(1, 1.01 * 8 * lambda, lambda), 0);
    // The paper's largest eta is 2.
    for (double score = 0.51; score <= 1; score += 0.01) EXPECT_LT(slope(score, 2, lambda), 0);
}

TEST(Barrier, BalancePointKeepsScoresAboveTheThreshold) {
    const double lambda = 0.5;
    for (const double eta : {5.0, 16.0, 100.0, 1e4}) {
        // Bisection of the slope, which rises with the score above the threshold.
        double low = tau + 1e-9, high = 1;
        for (int i = 0; i < 200; ++i) {
            const double middle = (low + high) / 2;
            (slope(middle, eta, lambda) < 0 ? low : high) = middle;
        }
        EXPECT_NEAR(eta * low * std::pow(low - tau, 3), lambda, 1e-6 * lambda) << eta;
        EXPECT_GT(low, tau);
    }
}

TEST(Barrier, WideGuardLetsScoresCross) {
    // What the remedied schedule starts with: at eps = 1 a moderate eta pushes down everywhere.
    for (double score = 0.01; score <= 1; score += 0.01) EXPECT_GT(slope(score, 0.5, 0.5, 1), 0);
}

}  // namespace
}  // namespace assay::lte
