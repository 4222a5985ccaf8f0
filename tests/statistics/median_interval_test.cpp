#include "suite/measure/statistics/median_interval.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "suite/measure/statistics/quantile.hpp"
#include "tests/statistics/random_samples.hpp"
#include "tests/statistics/reference_samples.hpp"

namespace assay::statistics {
namespace {

std::vector<double> one_to(int n) {
    std::vector<double> values(n);
    std::iota(values.begin(), values.end(), 1);
    return values;
}

void expect_ranks(int n, double level, int low, int high) {
    const Interval interval = median_interval(one_to(n), level);
    EXPECT_EQ(interval.method, IntervalMethod::order_statistics) << n;
    EXPECT_EQ(interval.low, low) << n << " values at " << level;
    EXPECT_EQ(interval.high, high) << n << " values at " << level;
}

// Ranks by scipy.stats.binom.cdf(k - 1, n, 0.5) <= (1 - level) / 2, SciPy 1.17.1; those at 95 %
// agree with the usual tables of the sign test.
TEST(MedianInterval, TakesTheRanksOfTheSignTest) {
    expect_ranks(6, 0.95, 1, 6);
    expect_ranks(9, 0.95, 2, 8);
    expect_ranks(12, 0.95, 3, 10);
    expect_ranks(17, 0.95, 5, 13);
    expect_ranks(20, 0.95, 6, 15);
    expect_ranks(100, 0.95, 40, 61);
    expect_ranks(100, 0.99, 37, 64);
    expect_ranks(100, 0.5, 47, 54);
    expect_ranks(10001, 0.95, 4902, 5100);
}

TEST(MedianInterval, AcceptsNinetyThreePercentForNinetyFive) {
    expect_ranks(5, 0.95, 1, 5);                                         // covers 93.75 %
    EXPECT_EQ(median_interval(one_to(4)).method, IntervalMethod::none);  // 87.5 %
    EXPECT_TRUE(std::isnan(median_interval(one_to(4)).low));
    // Asked for more, five values must not pretend: 99 % may become 98.6 %, not 93.75 %.
    EXPECT_EQ(median_interval(one_to(5), 0.99).method, IntervalMethod::none);
    expect_ranks(8, 0.99, 1, 8);
}

TEST(MedianInterval, NeedsFiveValues) {
    EXPECT_EQ(median_interval(one_to(smallest_n_for_interval - 1)).method, IntervalMethod::none);
    EXPECT_EQ(median_interval({}).method, IntervalMethod::none);
    for (int n : {smallest_n_for_interval, 45, 46, 1000, 1001})
        EXPECT_EQ(median_interval(one_to(n)).method, IntervalMethod::order_statistics) << n;
}

TEST(MedianInterval, OfEqualValuesIsAPoint) {
    for (int n : {5, 10, 11, 60}) {
        const Interval interval = median_interval(std::vector<double>(n, 3.5));
        EXPECT_EQ(interval.low, 3.5) << n;
        EXPECT_EQ(interval.high, 3.5) << n;
    }
    std::vector<double> but_one(11, 1.0);
    but_one[4] = 1000;
    EXPECT_EQ(median_interval(but_one).low, 1);
    EXPECT_EQ(median_interval(but_one).high, 1);
}

TEST(MedianInterval, RefusesNonsense) {
    const double infinity = std::numeric_limits<double>::infinity();
    const std::vector values{1.0, 2.0, 3.0, 4.0, 5.0, infinity};
    EXPECT_THROW(median_interval(values), std::invalid_argument);
    EXPECT_THROW(median_interval(one_to(9), 0), std::invalid_argument);
    EXPECT_THROW(median_interval(one_to(9), 1), std::invalid_argument);
    EXPECT_THROW(median_interval(one_to(9), 95), std::invalid_argument);
}

class MedianIntervalProperties : public testing::TestWithParam<int> {};

TEST_P(MedianIntervalProperties, HoldForEveryKindOfData) {
    CounterDraws draws(GetParam());
    for (Kind kind : {Kind::normal, Kind::lognormal, Kind::bimodal}) {
        const auto values = sample(kind, GetParam(), draws);
        const Interval interval = median_interval(values);
        EXPECT_LE(interval.low, median(values)) << name(kind);
        EXPECT_GE(interval.high, median(values)) << name(kind);

        const Interval quarter = median_interval(scaled(values, 0.25));
        EXPECT_EQ(quarter.low, interval.low / 4);
        EXPECT_EQ(quarter.high, interval.high / 4);

        const Interval negative = median_interval(scaled(values, -1));
        EXPECT_EQ(negative.low, -interval.high);
        EXPECT_EQ(negative.high, -interval.low);

        auto turned = values;
        std::rotate(turned.begin(), turned.begin() + GetParam() / 3, turned.end());
        EXPECT_EQ(median_interval(turned).low, interval.low);
        EXPECT_EQ(median_interval(turned).high, interval.high);

        Interval inner = median_interval(values, 0.5);
        for (double level : {0.8, 0.9, 0.95}) {
            const Interval outer = median_interval(values, level);
            EXPECT_LE(outer.low, inner.low) << level;
            EXPECT_GE(outer.high, inner.high) << level;
            inner = outer;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Sizes, MedianIntervalProperties,
                         testing::Values(5, 6, 7, 20, 45, 46, 47, 60, 101, 1001));

}  // namespace
}  // namespace assay::statistics
