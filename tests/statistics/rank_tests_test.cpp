#include "suite/measure/statistics/rank_tests.hpp"

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

std::vector<double> progression(int n, double first, double step) {
    std::vector<double> values(n);
    for (int i = 0; i < n; ++i) values[i] = first + step * i;
    return values;
}

void expect_test(const MannWhitney& test, double u, double p, bool exact) {
    EXPECT_EQ(test.u, u);
    EXPECT_NEAR(test.p, p, 1e-12 * std::max(p, 1e-3));
    EXPECT_EQ(test.exact, exact);
}

// SciPy 1.17.1, scipy.stats.mannwhitneyu(method="exact").
TEST(MannWhitney, IsScipysExactOne) {
    expect_test(mann_whitney(kEight, kSeven), 16, 0.1892773892773893, true);
    expect_test(mann_whitney(kSeven, kEight), 40, 0.1892773892773893, true);
    expect_test(mann_whitney(progression(33, 0, 2), progression(33, 9, 2)), 406,
                0.07667296623054673, true);
    expect_test(mann_whitney(progression(3, 0.5, 1), progression(3, 0, 2)), 4, 1, true);
    expect_test(mann_whitney(progression(3, 0.5, 1), progression(4, 0, 2)), 4, 0.6285714285714286,
                true);
    expect_test(mann_whitney(progression(1, 0.5, 1), progression(30, 0, 2)), 1, 0.12903225806451613,
                true);
    const auto far = mann_whitney(progression(5, 0.5, 1), progression(200, 0, 2));
    EXPECT_NEAR(far.p / 5.7791217085855244e-08, 1, 1e-10);
}

// SciPy 1.17.1, scipy.stats.mannwhitneyu(method="asymptotic").
TEST(MannWhitney, IsScipysNormalOneWithTiesAndForManyValues) {
    expect_test(mann_whitney(kTiedA, kTiedB), 47, 0.004176218686538837, false);
    std::vector<double> a, b;
    for (int i = 0; i < 700; ++i) a.push_back(i * i * 37 % 10007 / 7.0);
    for (int i = 0; i < 600; ++i) b.push_back(i * i * 53 % 9973 / 7.0 + 0.01);
    expect_test(mann_whitney(a, b), 213863, 0.56705441090883, false);
}

TEST(MannWhitney, OfEqualValuesFindsNothing) {
    expect_test(mann_whitney(std::vector(5, 2.0), std::vector(9, 2.0)), 22.5, 1, false);
    expect_test(mann_whitney(std::vector{2.0}, std::vector{2.0}), 0.5, 1, false);
}

TEST(MannWhitney, TakesInfinityButNoNan) {
    const double infinity = std::numeric_limits<double>::infinity();
    EXPECT_EQ(mann_whitney(std::vector{infinity}, std::vector{1.0}).u, 1);
    EXPECT_THROW(mann_whitney(std::vector{std::nan("")}, std::vector{1.0}), std::invalid_argument);
    EXPECT_THROW(mann_whitney({}, std::vector{1.0}), std::invalid_argument);
}

// All pairs, in order: what the selection must not need to make.
std::vector<double> all_differences(const std::vector<double>& a, const std::vector<double>& b) {
    std::vector<double> all;
    for (double x : a)
        for (double y : b) all.push_back(y - x);
    std::sort(all.begin(), all.end());
    return all;
}

TEST(HodgesLehmann, IsTheMedianOfAllPairs) {
    CounterDraws draws(3);
    for (Kind kind : {Kind::normal, Kind::lognormal, Kind::bimodal})
        for (int n : {1, 2, 3, 10, 41, 300}) {
            const auto a = sample(kind, n, draws), b = sample(kind, n % 7 + 2 * n, draws);
            EXPECT_NEAR(hodges_lehmann_shift(a, b), median(all_differences(a, b)), 1e-14) << n;
            std::vector<double> averages;
            for (int i = 0; i < n; ++i)
                for (int j = i; j < n; ++j) averages.push_back(a[i] / 2 + a[j] / 2);
            EXPECT_NEAR(hodges_lehmann(a), median(averages), 1e-13) << n;
        }
    EXPECT_NEAR(hodges_lehmann(kFifty), 9.55, 1e-12);  // NumPy 2.4.6, all pairs
    EXPECT_NEAR(hodges_lehmann_shift(kEight, kSeven), 0.91, 1e-12);
}

// Neither steps of equal values nor values hundreds of powers of ten apart upset the selection.
TEST(HodgesLehmann, SelectsAmongTiesAndExtremes) {
    std::vector<double> a, b;
    for (int i = 0; i < 200; ++i) {
        a.push_back(i % 3);
        b.push_back(i % 4);
    }
    EXPECT_EQ(hodges_lehmann_shift(a, b), median(all_differences(a, b)));
    for (int i = 0; i < 200; ++i) {
        a[i] = std::ldexp(1.0, 5 * i - 900);
        b[i] = -std::ldexp(1.0, 4 * i - 850);
    }
    const auto all = all_differences(a, b);
    EXPECT_EQ(hodges_lehmann_shift(a, b), all[19999] / 2 + all[20000] / 2);
    EXPECT_EQ(hodges_lehmann_shift(std::vector(500, 3.0), std::vector(400, 5.0)), 2);
}

// SciPy 1.17.1: the shifts s with mannwhitneyu(a + s, b, method="exact").pvalue > 1 - level.
TEST(HodgesLehmannInterval, InvertsTheExactTest) {
    const auto expect = [](double level, double low, double high) {
        const Interval interval = hodges_lehmann_interval(kEight, kSeven, level);
        EXPECT_EQ(interval.method, IntervalMethod::rank_sum);
        EXPECT_NEAR(interval.low, low, 1e-12) << level;
        EXPECT_NEAR(interval.high, high, 1e-12) << level;
    };
    expect(0.9, -0.41, 1.82);
    expect(0.95, -1.15, 2.21);
    expect(0.99, -1.69, 2.5);
}

TEST(HodgesLehmannInterval, OfManyValuesInvertsTheNormalTest) {
    CounterDraws draws(11);
    const auto a = sample(Kind::lognormal, 400, draws), b = sample(Kind::lognormal, 500, draws);
    const Interval interval = hodges_lehmann_interval(a, b);
    const auto p_at = [&](double shift) {
        auto moved = a;
        for (double& value : moved) value += shift;
        return mann_whitney(moved, b).p;
    };
    const double hair = 1e-9;
    EXPECT_GT(p_at(interval.low + hair), 0.05);
    EXPECT_GT(p_at(interval.high - hair), 0.05);
    EXPECT_NEAR(p_at(interval.low - hair), 0.05, 1e-3);
    EXPECT_LE(p_at(interval.low - hair), 0.05);
    EXPECT_LE(p_at(interval.high + hair), 0.05);
}

TEST(HodgesLehmannInterval, NeedsEnoughValues) {
    const auto method = [](int n_a, int n_b, double level) {
        return hodges_lehmann_interval(progression(n_a, 0, 1), progression(n_b, 0.3, 1), level)
            .method;
    };
    EXPECT_EQ(method(3, 3, 0.95), IntervalMethod::none);      // 90 % at best
    EXPECT_EQ(method(3, 4, 0.95), IntervalMethod::rank_sum);  // 94.3 %
    EXPECT_EQ(method(3, 4, 0.99), IntervalMethod::none);
    EXPECT_EQ(method(1, 27, 0.95), IntervalMethod::none);  // 92.9 %
    EXPECT_EQ(method(1, 39, 0.95), IntervalMethod::rank_sum);
    EXPECT_EQ(method(1, 1, 0.95), IntervalMethod::none);
    EXPECT_THROW(hodges_lehmann_interval({}, kSeven), std::invalid_argument);
    EXPECT_THROW(hodges_lehmann_interval(kSeven, kSeven, 95), std::invalid_argument);
}

// statsmodels 0.15.0, statsmodels.stats.multitest.multipletests(method="holm").
TEST(Holm, IsStatsmodels) {
    const std::vector p{0.01, 0.04, 0.03, 0.005, 0.5, 0.012};
    const std::vector expected{0.05, 0.09, 0.09, 0.03, 0.5, 0.05};
    const auto adjusted = holm(p);
    ASSERT_EQ(adjusted.size(), expected.size());
    for (std::size_t i = 0; i < p.size(); ++i) EXPECT_NEAR(adjusted[i], expected[i], 1e-15) << i;
}

TEST(Holm, StaysBetweenThePValueAndOne) {
    EXPECT_TRUE(holm({}).empty());
    EXPECT_EQ(holm(std::vector{0.7, 0.8, 0.9}), std::vector(3, 1.0));
    EXPECT_EQ(holm(std::vector{0.2}), std::vector{0.2});
    EXPECT_THROW(holm(std::vector{0.2, 1.5}), std::invalid_argument);
    EXPECT_THROW(holm(std::vector{std::nan("")}), std::invalid_argument);
}

}  // namespace
}  // namespace assay::statistics
