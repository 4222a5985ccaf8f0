// Fits of what operations reach: recovered from made-up durations whose truth is known, and refused
// where samples do not tell.
#include "suite/scenario/operation_fit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/scenario/profile_texts.hpp"

namespace assay {
namespace {

using ::testing::HasSubstr;

/// 100 FLOP/s and 40 bytes/s at most.
DeviceProfile device() { return read_device_profile(testing::device_text(), "d.toml"); }

struct Truth {
    double efficiency = 0.4, launch_s = 0.02;
};

/// Works of growing sizes, bound by either roof, each taking what the truth says times 1 + noise.
std::vector<TimedWork> timed(const Truth& truth, double noise, int count = 12) {
    std::mt19937_64 random(7);
    std::normal_distribution<double> normal(0, 1);
    std::vector<TimedWork> all;
    for (int i = 0; i < count; ++i) {
        const double size = std::pow(1.7, i);
        const Work work{.flops = 3 * size, .bytes = i % 3 == 0 ? 4 * size : size, .kernels = 5};
        const double exact =
            roofline_s(device(), work) / truth.efficiency + work.kernels * truth.launch_s;
        all.push_back({work, exact * (1 + noise * normal(random)), "sample " + std::to_string(i)});
    }
    return all;
}

OperationFit fit(const std::vector<TimedWork>& samples, std::optional<double> launch_s = {}) {
    return fit_operation("experts", device(), samples, launch_s);
}

std::string refusal(const std::vector<TimedWork>& samples, std::optional<double> launch_s = {}) {
    try {
        fit(samples, launch_s);
    } catch (const FitError& error) {
        return error.what();
    }
    return "fitted";
}

TEST(OperationFit, RecoversTheTruthFromExactDurations) {
    const OperationFit found = fit(timed({0.4, 0.02}, 0));
    EXPECT_NEAR(found.efficiency, 0.4, 1e-9);
    EXPECT_NEAR(found.launch_s, 0.02, 1e-9);
    EXPECT_TRUE(found.launch_fitted);
    ASSERT_EQ(found.residuals.size(), 12U);
    EXPECT_NEAR(found.worst(), 0, 1e-9);
    EXPECT_NEAR(found.efficiency_error, 0, 1e-9);
}

TEST(OperationFit, RecoversItWithinItsStandardErrorsFromNoisyOnes) {
    for (const double noise : {0.01, 0.05}) {
        const OperationFit found = fit(timed({0.4, 0.02}, noise, 40));
        EXPECT_NEAR(found.efficiency, 0.4, 3 * found.efficiency_error);
        EXPECT_NEAR(found.launch_s, 0.02, 3 * found.launch_error_s);
        EXPECT_GT(found.efficiency_error, 0);
        EXPECT_LT(found.efficiency_error, noise * 0.4) << "many samples tell more than one";
        // Half of a normal distribution lies within 0.67 standard deviations.
        EXPECT_NEAR(found.median(), 0.67 * noise, 0.3 * noise);
    }
}

TEST(OperationFit, ResidualsAreModelledOverMeasuredLessOne) {
    auto samples = timed({0.4, 0.02}, 0);
    samples[6].seconds *= 1.25;  // one that took longer than it should
    const OperationFit found = fit(samples);
    for (std::size_t i = 0; i < samples.size(); ++i) {
        const double modelled = roofline_s(device(), samples[i].work) / found.efficiency +
                                samples[i].work.kernels * found.launch_s;
        EXPECT_NEAR(found.residuals[i], modelled / samples[i].seconds - 1, 1e-12);
    }
    EXPECT_EQ(found.worst(), found.residuals[6]);
    EXPECT_LT(found.worst(), -0.1) << "modelled as faster than it was";
    EXPECT_LT(found.median(), 0.05);
}

// What the cost model then says is what was measured.
TEST(OperationFit, IsWhatTheCostModelPricesBy) {
    DeviceProfile known = device();
    const auto samples = timed({0.3, 0.05}, 0);
    const OperationFit found = fit(samples);
    known.operations["experts"] = {{found.efficiency, "fitted", "a test", {"s"}},
                                   {found.launch_s, "fitted", "a test", {"s"}}};
    const CostModel costs(read_cluster_profile(testing::cluster_text(), "c.toml"),
                          std::vector{known});
    for (const TimedWork& sample : samples)
        EXPECT_NEAR(costs.compute(0, Operation{"experts", sample.work}), sample.seconds, 1e-9);
    EXPECT_NE(costs.compute(0, Operation{"others", samples[3].work}), samples[3].seconds);
}

TEST(OperationFit, ALaunchThatIsGivenIsNotFitted) {
    const OperationFit found = fit(timed({0.4, 0.02}, 0), 0.02);
    EXPECT_FALSE(found.launch_fitted);
    EXPECT_EQ(found.launch_s, 0.02);
    EXPECT_NEAR(found.efficiency, 0.4, 1e-9);
    EXPECT_LT(fit(timed({0.4, 0.02}, 0), 0).efficiency, 0.4) << "launches that count as work";
}

TEST(OperationFit, WithoutKernelsThereIsNothingToLaunch) {
    auto samples = timed({0.4, 0}, 0);
    for (TimedWork& sample : samples) sample.work.kernels = 0;
    const OperationFit found = fit(samples);
    EXPECT_FALSE(found.launch_fitted);
    EXPECT_EQ(found.launch_s, 0);
    EXPECT_NEAR(found.efficiency, 0.4, 1e-9);
}

TEST(OperationFit, ALaunchIsNeverBelowZero) {
    auto samples = timed({0.4, 0}, 0);
    for (TimedWork& sample : samples)  // the small ones faster than their size says
        sample.seconds *= 1 - 0.1 / (1 + roofline_s(device(), sample.work));
    const OperationFit found = fit(samples);
    EXPECT_FALSE(found.launch_fitted);
    EXPECT_EQ(found.launch_s, 0);
    EXPECT_GT(found.efficiency, 0.4);
}

TEST(OperationFit, OneSizeTellsNoLaunchFromWork) {
    auto samples = timed({0.4, 0.02}, 0.02);
    for (TimedWork& sample : samples) sample.work = {.flops = 300, .bytes = 10, .kernels = 5};
    EXPECT_THAT(refusal(samples),
                AllOf(HasSubstr("operation 'experts': all 12 samples have about the same work per "
                                "kernel (it differs by 0 %)"),
                      HasSubstr("measure another size, or give the seconds per launch")));
    EXPECT_NEAR(fit(timed({0.4, 0.02}, 0), 0.02).efficiency, 0.4, 1e-9);
}

// Larger and larger, but so are the launches: collinear all the same.
TEST(OperationFit, WorkThatGrowsWithItsKernelsTellsThemApartNoMore) {
    std::vector<TimedWork> samples;
    for (int i = 1; i <= 10; ++i)
        samples.push_back(
            {{.flops = 100.0 * i, .bytes = 0, .kernels = 3.0 * i}, i * (1 / 0.4 + 3 * 0.02), "a"});
    EXPECT_THAT(refusal(samples), HasSubstr("cannot be told apart"));
    EXPECT_NEAR(fit(samples, 0.02).efficiency, 0.4, 1e-9);
}

TEST(OperationFit, TooFewAreRefused) {
    EXPECT_THAT(refusal(timed({}, 0, 2)), HasSubstr("2 samples for 2 unknowns; 3 at least"));
    EXPECT_THAT(refusal(timed({}, 0, 1), 0.02), HasSubstr("1 sample for 1 unknown; 2 at least"));
    EXPECT_THAT(refusal({}), HasSubstr("0 samples"));
}

TEST(OperationFit, DurationsThatSayNothingAreRefused) {
    auto constant = timed({}, 0);
    for (TimedWork& sample : constant) sample.seconds = 3;
    EXPECT_THAT(refusal(constant), HasSubstr("do not grow with its work"));
    auto wild = timed({0.01, 0}, 0);
    for (std::size_t i = 0; i < wild.size(); ++i) wild[i].seconds *= i == 0 ? 0.02 : 5;
    EXPECT_THAT(refusal(wild, 0), HasSubstr("scatter too much"));
    auto falling = timed({}, 0);
    for (TimedWork& sample : falling) sample.seconds = 1 / roofline_s(device(), sample.work);
    EXPECT_NE(refusal(falling), "fitted");
    EXPECT_THAT(refusal(timed({1.5, 0.001}, 0)),
                AllOf(HasSubstr("1.50 times the peak of d"), HasSubstr("work is overstated")));
}

TEST(OperationFit, WhatIsNoDurationOrNoWorkIsNamed) {
    for (const double seconds : std::vector{0.0, -1.0, std::nan(""), double(INFINITY)}) {
        auto samples = timed({}, 0);
        samples[4].seconds = seconds;
        EXPECT_THAT(refusal(samples), HasSubstr("sample 4 has"));
    }
    auto samples = timed({}, 0);
    samples[5].work = {.flops = 0, .bytes = 0, .kernels = 5};
    EXPECT_THAT(refusal(samples), HasSubstr("sample 5 has"));
    samples[5].work = {.flops = 1, .bytes = 0, .kernels = -5};
    EXPECT_THAT(refusal(samples), HasSubstr("sample 5 has"));
}

}  // namespace
}  // namespace assay
