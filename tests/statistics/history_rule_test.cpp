#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "suite/measure/statistics/history_rule.hpp"
#include "tests/statistics/random_histories.hpp"

namespace assay::statistics {
namespace {

using testing::Noise;

// By hand: medians of three are 2, 3, …, 10; changes |4/2 - 1| = 1, 2/3, 1/2, 2/5, 1/3, 2/7, 1/4.
// Quartiles of these seven (type 7): places 1.5 and 4.5.
TEST(HistoryRule, ThresholdIsThatOfItsOwnChanges) {
    const std::vector<double> history{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    const auto verdict = unusual(history, 12);
    ASSERT_TRUE(verdict);
    const double first = (2.0 / 7 + 1.0 / 3) / 2, third = (1.0 / 2 + 2.0 / 3) / 2;
    EXPECT_NEAR(verdict->change, 12.0 / 9 - 1, 1e-12);
    EXPECT_NEAR(verdict->threshold, third + 3 * (third - first), 1e-12);
    EXPECT_FALSE(verdict->unusual);
    EXPECT_TRUE(unusual(history, 9 * (1.001 + verdict->threshold))->unusual);
    EXPECT_FALSE(unusual(history, 9 * (0.999 + verdict->threshold))->unusual);
    EXPECT_EQ(unusual(history, 3)->change, unusual(history, 15)->change);  // down as up
}

TEST(HistoryRule, TooShortAHistorySaysNothing) {
    const std::vector<double> nine(9, 1.0), ten(10, 1.0);
    EXPECT_FALSE(unusual(nine, 2));
    EXPECT_TRUE(unusual(ten, 2));
    EXPECT_FALSE(unusual(ten, 2, {11, 3, 0.01}));
    EXPECT_TRUE(unusual(nine, 2, {4, 3, 0.01}));
}

TEST(HistoryRule, AConstantHistoryLeavesTheFloor) {
    const std::vector<double> history(15, 8.0);
    EXPECT_EQ(unusual(history, 8)->threshold, 0.01);
    EXPECT_FALSE(unusual(history, 8.05)->unusual);
    EXPECT_TRUE(unusual(history, 8.1)->unusual);
    EXPECT_TRUE(unusual(history, 8.05, {10, 3, 0})->unusual);
}

TEST(HistoryRule, ChangesFromZeroAreLeftOutOfTheSpread) {
    const std::vector<double> zeros(12, 0.0);
    EXPECT_FALSE(unusual(zeros, 0)->unusual);
    EXPECT_TRUE(unusual(zeros, 1e-9)->unusual);
    std::vector<double> rises(12, 1.0);
    rises[0] = rises[1] = rises[2] = 0;
    EXPECT_EQ(unusual(rises, 1)->threshold, 0.01);
}

// Today is compared with the median of the newest three: one odd night among them does not matter.
TEST(HistoryRule, OneOddNightNeitherHidesNorCauses) {
    std::vector<double> history;
    Noise noise(3);
    for (int i = 0; i < 30; ++i) history.push_back(100 + noise.normal());
    history.back() = 140;
    EXPECT_FALSE(unusual(history, 100)->unusual);
    EXPECT_TRUE(unusual(history, 110)->unusual);
}

TEST(HistoryRule, ScaleDoesNotMatter) {
    Noise noise(4);
    for (int trial = 0; trial < 100; ++trial) {
        std::vector<double> history, scaled;
        for (int i = 0; i < 20; ++i) history.push_back(50 + noise.normal());
        for (const double value : history) scaled.push_back(value * 0x1p-20);
        const double today = 50 + 2 * noise.normal();
        const auto here = unusual(history, today), there = unusual(scaled, today * 0x1p-20);
        EXPECT_EQ(here->change, there->change);
        EXPECT_EQ(here->threshold, there->threshold);
    }
}

struct Rates {
    double alarms = 0, found = 0;
};

/// Shares of 5000 histories with 1 % noise: alarms on another value of the same level, and on one
/// that is `step` higher.
Rates rates(int length, double step) {
    Noise noise(9);
    Rates counted;
    for (int trial = 0; trial < 5000; ++trial) {
        std::vector<double> history;
        for (int i = 0; i < length; ++i) history.push_back(100 + noise.normal());
        const double today = 100 + noise.normal();
        counted.alarms += unusual(history, today)->unusual;
        counted.found += unusual(history, today + 100 * step)->unusual;
    }
    return {counted.alarms / 5000, counted.found / 5000};
}

TEST(HistoryRule, NoiseSeldomAlarmsAndLessTheLongerTheHistory) {
    EXPECT_LE(rates(10, 0).alarms, 0.04);    // measured: 2.8 %
    EXPECT_LE(rates(20, 0).alarms, 0.015);   // 0.9 %
    EXPECT_LE(rates(50, 0).alarms, 0.004);   // 0.2 %
    EXPECT_GE(rates(10, 0).alarms, 0.0005);  // or the test could not fail
}

TEST(HistoryRule, AStepWellBeyondTheNoiseIsFound) {
    EXPECT_GE(rates(20, 0.10).found, 0.99);  // measured: 99.9 %
    EXPECT_GE(rates(20, 0.05).found, 0.65);  // 72 %
    EXPECT_GE(rates(50, 0.10).found, 0.99);
}

TEST(HistoryRule, WhatMakesNoSenseIsRefused) {
    std::vector<double> history(20, 1.0);
    EXPECT_THROW(unusual(history, std::nan("")), std::invalid_argument);
    EXPECT_THROW(unusual(history, 1, {10, 0, 0.01}), std::invalid_argument);
    EXPECT_THROW(unusual(history, 1, {3, 3, 0.01}), std::invalid_argument);
    history[4] = std::numeric_limits<double>::infinity();
    EXPECT_THROW(unusual(history, 1), std::invalid_argument);
}

}  // namespace
}  // namespace assay::statistics
