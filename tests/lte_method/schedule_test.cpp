#include "impls/lte/method/schedule.hpp"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <gtest/gtest.h>

namespace assay::lte {
namespace {

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
