// What must hold for any two sides.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/compare/small_arms.hpp"

namespace assay::compare::testing {
namespace {

struct Sides {
    Series a, b;
};

/// Lognormal values, B shifted; lengths that differ when not paired.
Sides random_sides(std::mt19937_64& random, bool paired) {
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform;
    const double spread = 0.05 * uniform(random), shift = 0.2 * (uniform(random) - 0.5);
    const auto draw = [&](int n, double center) {
        std::vector<double> values;
        for (int i = 0; i < n; ++i) values.push_back(std::exp(center + spread * normal(random)));
        return values;
    };
    // Odd, so that the median of the inverse ratios is the inverse of the median.
    const int n = 5 + 2 * static_cast<int>(uniform(random) * 10);
    if (paired) return {seeded(draw(n, 0)), seeded(draw(n, shift))};
    return {series(draw(n, 0)), series(draw(n + 2, shift))};
}

RowVerdict mirrored(RowVerdict verdict) {
    if (verdict == RowVerdict::faster) return RowVerdict::slower;
    if (verdict == RowVerdict::slower) return RowVerdict::faster;
    return verdict;
}

class Properties : public ::testing::TestWithParam<bool> {};

TEST_P(Properties, SwappingTheSidesInvertsTheRatioAndMirrorsTheVerdict) {
    std::mt19937_64 random(7);
    int decided = 0;
    for (int round = 0; round < 200; ++round) {
        const Sides sides = random_sides(random, GetParam());
        const Row forth = only_row(sides.a, sides.b), back = only_row(sides.b, sides.a);
        EXPECT_NEAR(back.ratio * forth.ratio, 1, 1e-9);
        EXPECT_EQ(back.verdict, mirrored(forth.verdict));
        EXPECT_NEAR(back.low * forth.high, 1, 1e-9);
        EXPECT_NEAR(back.high * forth.low, 1, 1e-9);
        decided += forth.verdict == RowVerdict::faster || forth.verdict == RowVerdict::slower;
    }
    EXPECT_GT(decided, 10) << "the property was not put to the test";
}

TEST_P(Properties, ScalingOneSideScalesRatioAndInterval) {
    std::mt19937_64 random(11);
    for (int round = 0; round < 100; ++round) {
        const Sides sides = random_sides(random, GetParam());
        Series scaled = sides.b;
        for (Point& point : scaled.points) point.value *= 4;  // exact in binary
        const Row before = only_row(sides.a, sides.b), after = only_row(sides.a, scaled);
        EXPECT_NEAR(after.ratio / before.ratio, 4, 1e-9);
        EXPECT_NEAR(after.low / before.low, 4, 1e-9);
        EXPECT_NEAR(after.high / before.high, 4, 1e-9);
        EXPECT_EQ(after.method, before.method);
    }
}

TEST_P(Properties, ScalingBothSidesChangesNothing) {
    std::mt19937_64 random(13);
    for (int round = 0; round < 100; ++round) {
        Sides sides = random_sides(random, GetParam());
        const Row before = only_row(sides.a, sides.b);
        for (Series* series : {&sides.a, &sides.b})
            for (Point& point : series->points) point.value *= 0.25;
        const Row after = only_row(sides.a, sides.b);
        EXPECT_EQ(after.verdict, before.verdict);
        EXPECT_NEAR(after.ratio, before.ratio, 1e-12);
    }
}

TEST_P(Properties, ASideComparedWithItselfIsNeverFasterNorSlower) {
    std::mt19937_64 random(17);
    for (int round = 0; round < 100; ++round) {
        const Sides sides = random_sides(random, GetParam());
        const Row row = only_row(sides.a, sides.a);
        EXPECT_NEAR(row.ratio, 1, 1e-12);
        EXPECT_NE(row.verdict, RowVerdict::faster);
        EXPECT_NE(row.verdict, RowVerdict::slower);
    }
}

TEST_P(Properties, AWiderMarginNeverFindsMore) {
    std::mt19937_64 random(19);
    for (int round = 0; round < 100; ++round) {
        const Sides sides = random_sides(random, GetParam());
        Options wide;
        wide.margin = 0.08;
        const Row narrow_row = only_row(sides.a, sides.b),
                  wide_row = only_row(sides.a, sides.b, wide);
        if (wide_row.verdict == RowVerdict::slower || wide_row.verdict == RowVerdict::faster) {
            EXPECT_EQ(narrow_row.verdict, wide_row.verdict);
        }
        if (narrow_row.verdict == RowVerdict::same) {
            EXPECT_EQ(wide_row.verdict, RowVerdict::same);
        }
    }
}

TEST_P(Properties, TheOrderOfTheValuesDoesNotMatter) {
    std::mt19937_64 random(23);
    for (int round = 0; round < 50; ++round) {
        Sides sides = random_sides(random, GetParam());
        const Row before = only_row(sides.a, sides.b);
        std::shuffle(sides.b.points.begin(), sides.b.points.end(), random);
        const Row after = only_row(sides.a, sides.b);
        EXPECT_NEAR(after.ratio, before.ratio, 1e-12);
        EXPECT_EQ(after.verdict, before.verdict);
    }
}

INSTANTIATE_TEST_SUITE_P(Compare, Properties, ::testing::Values(true, false),
                         [](const auto& paired) { return paired.param ? "Paired" : "Unpaired"; });

TEST(Matching, KeepsTheOrderOfAThenWhatOnlyBHas) {
    Series first = series({1}), second = series({1}), third = series({1});
    first.name.variant = "z";
    second.name.variant = "m";
    third.name.variant = "a";
    const Arm a = arm({first, second}), b = arm({third, second, first});
    const auto rows = compare(a, b);
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_EQ(rows[0].id.series_text(), "toy/fig1 z");
    EXPECT_EQ(rows[1].id.series_text(), "toy/fig1 m");
    EXPECT_EQ(rows[2].id.series_text(), "toy/fig1 a");
    EXPECT_EQ(rows[2].reason_code, Reason::only_in_b);
}

TEST(Matching, SeriesOfOneNamePairUpByTheirContext) {
    Series toy = seeded(around(1, 0.001, 9)), small = seeded(around(5, 0.001, 9));
    small.context["profile"] = "small";
    const Arm a = arm({toy, small}), b = arm({small, toy});
    for (const Row& row : compare(a, b)) {
        EXPECT_EQ(row.verdict, RowVerdict::same);
        EXPECT_EQ(row.a->context, row.b->context);
    }
}

}  // namespace
}  // namespace assay::compare::testing
