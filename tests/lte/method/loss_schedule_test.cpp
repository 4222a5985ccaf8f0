// Eqs. 4 to 6, what follows from them about training (section 4.1 of the specification), and the
// schedules that weigh them.
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <gtest/gtest.h>

#include <cmath>

#include "impls/lte/method/loss_schedule.hpp"

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

std::vector<at::Tensor> scores(std::int64_t step, double low = 0, double high = 1) {
    const auto generator =
        at::make_generator<at::CPUGeneratorImpl>(static_cast<std::uint64_t>(step) + 1);
    return {at::rand({50, 8}, generator) * (high - low) + low,
            at::rand({50, 8}, generator) * (high - low) + low};
}

TEST(PublishedSchedule, IsConstant) {
    PublishedSchedule schedule(0.7);
    schedule.observe(3, 10, scores(3));
    for (const std::int64_t step : {0, 5, 9}) {
        const auto weights = schedule.weights(step, 10);
        EXPECT_EQ(weights.eta, 0.7);
        EXPECT_EQ(weights.lambda, 0.5);
        EXPECT_EQ(weights.eps, 1e-2);
        EXPECT_EQ(weights.centre, 0.5);
    }
}

TEST(TargetSchedule, LowersTheGuardGeometrically) {
    const TargetSchedule schedule({.eps_first = 1, .eps_last = 1e-4, .settle = 0.2, .anneal = 0.6});
    EXPECT_DOUBLE_EQ(schedule.weights(0, 100).eps, 1);
    EXPECT_DOUBLE_EQ(schedule.weights(20, 100).eps, 1);
    EXPECT_NEAR(schedule.weights(40, 100).eps, 1e-2, 1e-12);
    EXPECT_NEAR(schedule.weights(60, 100).eps, 1e-4, 1e-15);
    EXPECT_NEAR(schedule.weights(99, 100).eps, 1e-4, 1e-15);
}

TEST(TargetSchedule, CentreIsTheQuantileOfAllLayersThenTheThreshold) {
    TargetSchedule schedule({.target = 0.25, .settle = 0.5, .anneal = 0.9, .follow = 1});
    // One layer low, one high: a quarter of all scores are below the middle of the low one.
    const auto low = scores(1, 0, 0.4)[0], high = scores(1, 0.6, 1)[1];
    schedule.observe(0, 100, {low, high});
    const double centre = schedule.weights(1, 100).centre;
    const auto below = (low <= centre).sum() + (high <= centre).sum();
    EXPECT_NEAR(below.item<double>() / 800, 0.25, 0.005);
    EXPECT_LT(centre, 0.4);
    // Kept until the guard is down, then held within a reach of tau that closes by step 95.
    EXPECT_DOUBLE_EQ(schedule.weights(90, 100).centre, centre);
    EXPECT_NEAR(schedule.weights(94, 100).centre, 0.3, 1e-12);
    EXPECT_DOUBLE_EQ(schedule.weights(95, 100).centre, 0.5);
}

TEST(TargetSchedule, CentreLiesInTheMiddleOfAGap) {
    TargetSchedule schedule({.target = 0.5, .follow = 1});
    // 51 % of the scores are 0, the others 0.8: the plain quantile would be 0.
    schedule.observe(0, 100, {at::cat({at::zeros({51, 2}), at::full({49, 2}, 0.8)})});
    EXPECT_NEAR(schedule.weights(1, 100).centre, 0.4, 1e-6);
}

TEST(TargetSchedule, GoesOnFromItsState) {
    TargetSchedule one({.target = 0.6}), other({.target = 0.6});
    for (std::int64_t step = 0; step < 37; ++step) one.observe(step, 100, scores(step));
    // As text: checkpoints are read by another process.
    other.restore(nlohmann::json::parse(one.state().dump()));
    for (std::int64_t step = 37; step < 100; ++step) {
        EXPECT_EQ(one.weights(step, 100).centre, other.weights(step, 100).centre);
        one.observe(step, 100, scores(step));
        other.observe(step, 100, scores(step));
    }
    EXPECT_EQ(one.state(), other.state());
}

}  // namespace
}  // namespace assay::lte
