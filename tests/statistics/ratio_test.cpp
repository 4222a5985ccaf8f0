#include "suite/measure/statistics/ratio.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "suite/measure/statistics/quantile.hpp"
#include "suite/measure/statistics/rank_tests.hpp"
#include "tests/statistics/random_samples.hpp"
#include "tests/statistics/reference_samples.hpp"

namespace assay::statistics {
namespace {

TEST(PairedRatio, IsTheMedianOfTheRatios) {
    const std::vector a{1.0, 2.0, 4.0, 5.0, 10.0}, b{2.0, 2.0, 6.0, 7.0, 40.0};
    const Ratio ratio = paired_ratio(a, b);  // 2, 1, 1.5, 1.4, 4
    EXPECT_EQ(ratio.ratio, 1.5);
    EXPECT_EQ(ratio.interval.low, 1);
    EXPECT_EQ(ratio.interval.high, 4);
    EXPECT_EQ(ratio.interval.method, IntervalMethod::order_statistics);
    EXPECT_TRUE(ratio.paired);
    EXPECT_EQ(ratio.n_a, 5);
    EXPECT_EQ(ratio.n_b, 5);
}

TEST(UnpairedRatio, IsTheShiftOfTheLogarithms) {
    std::vector<double> log_a, log_b;
    for (double v : kEight) log_a.push_back(std::log(v));
    for (double v : kSeven) log_b.push_back(std::log(v));
    const Ratio ratio = unpaired_ratio(kEight, kSeven);
    EXPECT_NEAR(ratio.ratio, std::exp(hodges_lehmann_shift(log_a, log_b)), 1e-14);
    const Interval logs = hodges_lehmann_interval(log_a, log_b);
    EXPECT_NEAR(ratio.interval.low, std::exp(logs.low), 1e-14);
    EXPECT_NEAR(ratio.interval.high, std::exp(logs.high), 1e-14);
    EXPECT_EQ(ratio.interval.method, IntervalMethod::rank_sum);
    EXPECT_FALSE(ratio.paired);
    EXPECT_EQ(ratio.n_a, 8);
    EXPECT_EQ(ratio.n_b, 7);
}

TEST(UnpairedRatio, WithoutEnoughValuesHasNoInterval) {
    const Ratio ratio = unpaired_ratio(std::vector{2.0, 2.0}, std::vector{3.0, 3.0});
    EXPECT_EQ(ratio.ratio, 1.5);
    EXPECT_EQ(ratio.interval.method, IntervalMethod::none);
    EXPECT_TRUE(std::isnan(ratio.interval.low) && std::isnan(ratio.interval.high));
}

TEST(Ratio, RefusesWhatHasNone) {
    const std::vector good{1.0, 2.0, 3.0};
    for (double bad : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
        const std::vector with{1.0, bad, 2.0};
        EXPECT_THROW(paired_ratio(good, with), std::invalid_argument) << bad;
        EXPECT_THROW(paired_ratio(with, good), std::invalid_argument) << bad;
        EXPECT_THROW(unpaired_ratio(good, with), std::invalid_argument) << bad;
        EXPECT_THROW(unpaired_ratio(with, good), std::invalid_argument) << bad;
    }
    EXPECT_THROW(paired_ratio({}, {}), std::invalid_argument);
    EXPECT_THROW(unpaired_ratio({}, good), std::invalid_argument);
    EXPECT_THROW(paired_ratio(good, std::vector{1.0}), std::invalid_argument);
}

Ratio compared(bool paired, const std::vector<double>& a, const std::vector<double>& b,
               double level = 0.95) {
    return paired ? paired_ratio(a, b, {.level = level}) : unpaired_ratio(a, b, level);
}

class RatioProperties : public testing::TestWithParam<std::tuple<bool, Kind, int>> {
  protected:
    bool paired = std::get<0>(GetParam());
    CounterDraws draws{42};
    std::vector<double> a = sample(std::get<1>(GetParam()), std::get<2>(GetParam()), draws);
    std::vector<double> b =
        scaled(sample(std::get<1>(GetParam()), std::get<2>(GetParam()), draws), 1.1);
    Ratio ratio = compared(paired, a, b);
};

TEST_P(RatioProperties, ScalingBothChangesNothingAndScalingOneScales) {
    const Ratio both = compared(paired, scaled(a, 8), scaled(b, 8));
    EXPECT_EQ(both.ratio, ratio.ratio);
    EXPECT_EQ(both.interval.low, ratio.interval.low);
    EXPECT_EQ(both.interval.high, ratio.interval.high);
    const Ratio one = compared(paired, a, scaled(b, 0.5));
    EXPECT_EQ(one.ratio, ratio.ratio / 2);
    EXPECT_EQ(one.interval.low, ratio.interval.low / 2);
    EXPECT_EQ(one.interval.high, ratio.interval.high / 2);
}

TEST_P(RatioProperties, SwappingSidesInverts) {
    const Ratio back = compared(paired, b, a);
    // Means of two ratios (even numbers of pairs) invert up to the square of their distance.
    const double near = paired ? 0.01 : 1e-12;
    EXPECT_NEAR(back.ratio * ratio.ratio, 1, near);
    EXPECT_NEAR(back.interval.low * ratio.interval.high, 1, near);
    EXPECT_NEAR(back.interval.high * ratio.interval.low, 1, near);
}

TEST_P(RatioProperties, OrderDoesNotMatter) {
    std::vector<double> a2(a.rbegin(), a.rend()), b2(b.rbegin(), b.rend());
    if (!paired) std::rotate(b2.begin(), b2.begin() + 2, b2.end());
    const Ratio turned = compared(paired, a2, b2);
    EXPECT_EQ(turned.ratio, ratio.ratio);
    EXPECT_EQ(turned.interval.low, ratio.interval.low);
    EXPECT_EQ(turned.interval.high, ratio.interval.high);
}

TEST_P(RatioProperties, HigherLevelsHoldLowerOnesAndTheEstimate) {
    double low = ratio.ratio, high = ratio.ratio;
    for (double level : {0.5, 0.8, 0.9, 0.95, 0.98}) {
        const Interval interval = compared(paired, a, b, level).interval;
        if (interval.method == IntervalMethod::none) continue;
        EXPECT_LE(interval.low, low) << level;
        EXPECT_GE(interval.high, high) << level;
        low = interval.low;
        high = interval.high;
    }
    EXPECT_LT(low, high);
}

INSTANTIATE_TEST_SUITE_P(
    Samples, RatioProperties,
    testing::Combine(testing::Bool(), testing::Values(Kind::normal, Kind::lognormal, Kind::bimodal),
                     testing::Values(5, 10, 33, 51, 300)));

// No pair is ever made: ten billion of them would not fit into memory.
TEST(UnpairedRatio, OfManyValuesFindsTheScale) {
    CounterDraws draws(9);
    const auto a = sample(Kind::lognormal, 100000, draws);
    const auto b = scaled(sample(Kind::lognormal, 100000, draws), 1.02);
    const Ratio ratio = unpaired_ratio(a, b);
    EXPECT_NEAR(ratio.ratio, 1.02, 0.008);
    EXPECT_LT(ratio.interval.low, ratio.ratio);
    EXPECT_GT(ratio.interval.high, ratio.ratio);
    EXPECT_LT(ratio.interval.high - ratio.interval.low, 0.012);
    EXPECT_GT(ratio.interval.low, 1);
}

}  // namespace
}  // namespace assay::statistics
