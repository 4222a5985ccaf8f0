#include "suite/measure/statistics/ratio.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "suite/measure/statistics/distributions.hpp"
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

std::vector<double> progression(int n, double first, double step) {
    std::vector<double> values(n);
    for (int i = 0; i < n; ++i) values[i] = first + step * i;
    return values;
}

/// Whose differences become the logarithms of the ratios.
std::vector<double> exponentials(std::vector<double> values) {
    for (double& value : values) value = std::exp(value);
    return values;
}

/// All pairs, in order: what the selection must not need to make.
std::vector<double> all_quotients(const std::vector<double>& a, const std::vector<double>& b) {
    std::vector<double> all;
    for (double x : a)
        for (double y : b) all.push_back(y / x);
    std::sort(all.begin(), all.end());
    return all;
}

/// Geometric mean of the two in the middle.
double middle_quotient(const std::vector<double>& a, const std::vector<double>& b) {
    const std::vector<double> all = all_quotients(a, b);
    const double low = all[(all.size() - 1) / 2], high = all[all.size() / 2];
    return low * std::sqrt(high / low);
}

TEST(UnpairedRatio, IsTheMiddleOfAllPairs) {
    CounterDraws draws(3);
    for (Kind kind : {Kind::normal, Kind::lognormal, Kind::bimodal})
        for (int n : {1, 2, 3, 10, 41, 300}) {
            const auto a = sample(kind, n, draws), b = sample(kind, n % 7 + 2 * n, draws);
            EXPECT_EQ(unpaired_ratio(a, b).ratio, middle_quotient(a, b)) << n;
        }
    const Ratio ratio = unpaired_ratio(kEight, kSeven);
    EXPECT_EQ(ratio.interval.method, IntervalMethod::rank_sum);
    EXPECT_FALSE(ratio.paired);
    EXPECT_EQ(ratio.n_a, 8);
    EXPECT_EQ(ratio.n_b, 7);
}

// Neither steps of equal values nor values hundreds of powers of ten apart upset the selection.
TEST(UnpairedRatio, SelectsAmongTiesAndExtremes) {
    std::vector<double> a, b;
    for (int i = 0; i < 200; ++i) {
        a.push_back(1 + i % 3);
        b.push_back(1 + i % 4);
    }
    EXPECT_EQ(unpaired_ratio(a, b).ratio, middle_quotient(a, b));
    for (int i = 0; i < 200; ++i) {
        a[i] = std::ldexp(1.0, 5 * i - 900);
        b[i] = std::ldexp(1.0, 4 * i - 850);
    }
    EXPECT_EQ(unpaired_ratio(a, b).ratio, middle_quotient(a, b));
    EXPECT_EQ(unpaired_ratio(std::vector(500, 3.0), std::vector(400, 5.0)).ratio, 5.0 / 3);
}

// SciPy 1.17.1: the shifts s with mannwhitneyu(a + s, b, method="exact").pvalue > 1 - level; NumPy
// 2.4.6 for the shift itself.
TEST(UnpairedRatio, InvertsTheExactTest) {
    const auto a = exponentials(kEight), b = exponentials(kSeven);
    EXPECT_NEAR(std::log(unpaired_ratio(a, b).ratio), 0.91, 1e-12);
    const auto expect = [&](double level, double low, double high) {
        const Interval interval = unpaired_ratio(a, b, level).interval;
        EXPECT_EQ(interval.method, IntervalMethod::rank_sum);
        EXPECT_NEAR(std::log(interval.low), low, 1e-12) << level;
        EXPECT_NEAR(std::log(interval.high), high, 1e-12) << level;
    };
    expect(0.9, -0.41, 1.82);
    expect(0.95, -1.15, 2.21);
    expect(0.99, -1.69, 2.5);
}

/// Two-sided p of the Mann-Whitney test; no ties.
double rank_sum_p(const std::vector<double>& a, const std::vector<double>& b) {
    std::int64_t u = 0;
    for (double x : a)
        for (double y : b) u += x > y;
    const auto pairs = static_cast<std::int64_t>(a.size() * b.size());
    const RankSumDistribution distribution(a.size(), b.size());
    return std::min(1.0, 2 * distribution.cdf(std::min(u, pairs - u)));
}

TEST(UnpairedRatio, OfManyValuesInvertsTheNormalTest) {
    CounterDraws draws(11);
    const auto a = sample(Kind::lognormal, 400, draws), b = sample(Kind::lognormal, 500, draws);
    const Interval interval = unpaired_ratio(a, b).interval;
    const auto p_at = [&](double factor) { return rank_sum_p(scaled(a, factor), b); };
    const double below = 1 - 1e-10, above = 1 + 1e-10;
    EXPECT_GT(p_at(interval.low * above), 0.05);
    EXPECT_GT(p_at(interval.high * below), 0.05);
    EXPECT_NEAR(p_at(interval.low * below), 0.05, 1e-3);
    EXPECT_LE(p_at(interval.low * below), 0.05);
    EXPECT_LE(p_at(interval.high * above), 0.05);
}

TEST(UnpairedRatio, NeedsEnoughValuesForAnInterval) {
    const auto method = [](int n_a, int n_b, double level) {
        const auto found =
            unpaired_ratio(progression(n_a, 1, 1), progression(n_b, 1.3, 1), level).interval.method;
        EXPECT_EQ(has_unpaired_interval(n_a, n_b, level), found != IntervalMethod::none);
        return found;
    };
    EXPECT_EQ(method(3, 3, 0.95), IntervalMethod::none);      // 90 % at best
    EXPECT_EQ(method(3, 4, 0.95), IntervalMethod::rank_sum);  // 94.3 %
    EXPECT_EQ(method(3, 4, 0.99), IntervalMethod::none);
    EXPECT_EQ(method(1, 27, 0.95), IntervalMethod::none);  // 92.9 %
    EXPECT_EQ(method(1, 39, 0.95), IntervalMethod::rank_sum);
    EXPECT_EQ(method(1, 1, 0.95), IntervalMethod::none);
    EXPECT_THROW(unpaired_ratio(kSeven, kSeven, 95), std::invalid_argument);
}

// SciPy 1.17.1, scipy.stats.mannwhitneyu(method="exact"), without ties.
TEST(RankSumDistribution, IsScipysExactOne) {
    const auto expect = [](int n_a, int n_b, std::int64_t u, double p) {
        const RankSumDistribution distribution(n_a, n_b);
        EXPECT_TRUE(distribution.exact());
        EXPECT_NEAR(2 * distribution.cdf(u) / p, 1, 1e-10) << n_a << ' ' << n_b << ' ' << u;
    };
    expect(8, 7, 16, 0.1892773892773893);
    expect(7, 8, 16, 0.1892773892773893);
    expect(33, 33, 406, 0.07667296623054673);
    expect(3, 4, 4, 0.6285714285714286);
    expect(1, 30, 1, 0.12903225806451613);
    expect(5, 200, 9, 5.7791217085855244e-08);
    EXPECT_GE(2 * RankSumDistribution(3, 3).cdf(4), 1);
    EXPECT_EQ(RankSumDistribution(3, 3).cdf(9), 1);
    EXPECT_EQ(RankSumDistribution(3, 3).cdf(-1), 0);
}

// SciPy 1.17.1, scipy.stats.mannwhitneyu(method="asymptotic").
TEST(RankSumDistribution, IsScipysNormalOneForManyValues) {
    const RankSumDistribution many(700, 600);
    EXPECT_FALSE(many.exact());
    EXPECT_NEAR(2 * many.cdf(700 * 600 - 213863), 0.56705441090883, 1e-12);
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
    return paired ? paired_ratio(a, b, level) : unpaired_ratio(a, b, level);
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
