// Every reason that a row can have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/compare/small_arms.hpp"

namespace assay::compare::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// Verdict and reason; the text begins with the reason's code.
void expect(const Row& row, RowVerdict verdict, Reason reason) {
    EXPECT_EQ(to_string(row.verdict), to_string(verdict)) << row.reason;
    EXPECT_EQ(to_string(row.reason_code), to_string(reason)) << row.reason;
    EXPECT_THAT(row.reason, StartsWith(std::string(to_string(reason))));
}

TEST(RowVerdict, SameInsideTheMargin) {
    const Row row = only_row(seeded(around(1, 0.001, 9)), seeded(around(1, 0.001, 9, 3)));
    expect(row, RowVerdict::same, Reason::within_margin);
    EXPECT_TRUE(row.paired);
    EXPECT_EQ(row.n_a, 9);
    EXPECT_EQ(row.n_b, 9);
    EXPECT_LE(row.low, row.ratio);
    EXPECT_LE(row.ratio, row.high);
    EXPECT_THAT(row.reason, HasSubstr("9 pairs"));
}

TEST(RowVerdict, SlowerBeyondTheMargin) {
    const Row row = only_row(seeded(around(1, 0.005, 9)), seeded(around(1.1, 0.005, 9)));
    expect(row, RowVerdict::slower, Reason::beyond_margin);
    EXPECT_NEAR(row.ratio, 1.1, 1e-12);
    EXPECT_THAT(row.reason, HasSubstr("all above 1.01"));
    EXPECT_TRUE(row.regression());
}

TEST(RowVerdict, HigherIsFasterWhereHigherIsBetter) {
    Series a = seeded(around(1, 0.005, 9)), b = seeded(around(1.1, 0.005, 9));
    a.better = b.better = Direction::higher;
    expect(only_row(a, b), RowVerdict::faster, Reason::beyond_margin);
    expect(only_row(b, a), RowVerdict::slower, Reason::beyond_margin);
}

TEST(RowVerdict, AmbiguousAcrossTheEdgeOfTheMargin) {
    const auto [a, b] = straddling(9);
    const Row row = only_row(seeded(a), seeded(b));
    expect(row, RowVerdict::ambiguous, Reason::straddles_margin);
    EXPECT_LT(row.low, 1.01);
    EXPECT_GT(row.high, 1.01);
}

TEST(RowVerdict, UnpairedWhenTheRoundsAreOthers) {
    const Row row = only_row(series(around(1, 0.002, 9)), series(around(2, 0.002, 9)));
    expect(row, RowVerdict::slower, Reason::beyond_margin);
    EXPECT_FALSE(row.paired);
    EXPECT_THAT(row.reason, HasSubstr("unpaired, 9 and 9 values"));
    EXPECT_NEAR(row.ratio, 2, 0.01);
}

TEST(RowVerdict, TooFewPairsFallBackToAllValues) {
    Series a = seeded(around(1, 0.002, 9)), b = seeded(around(1, 0.002, 9));
    for (std::size_t i = 2; i < 9; ++i) b.points[i].pair += " of another run";
    EXPECT_FALSE(only_row(a, b).paired);
}

/// `n` values of which the first `common` have the same seeds on both sides.
Row partly_paired(int n, int common) {
    Series a = seeded(around(1, 0.002, n)), b = seeded(around(1, 0.002, n));
    for (auto i = static_cast<std::size_t>(common); i < b.points.size(); ++i)
        b.points[i].pair += " of another run";
    return only_row(a, b);
}

TEST(RowVerdict, AFewCommonSeedsDoNotStandForManyOthers) {
    const Row row = partly_paired(40, 5);
    EXPECT_FALSE(row.paired);
    EXPECT_THAT(row.reason, HasSubstr("unpaired, 40 and 40 values"));
}

TEST(RowVerdict, ValuesWithoutPartnerAreTold) {
    const Row row = partly_paired(40, 30);
    EXPECT_TRUE(row.paired);
    EXPECT_THAT(row.reason, HasSubstr("30 pairs; 10 of A and 10 of B without partner"));
    EXPECT_THAT(partly_paired(40, 40).reason, Not(HasSubstr("partner")));
    Series more = deterministic({1, 2, 3});
    EXPECT_THAT(only_row(deterministic({1}), more).reason,
                HasSubstr("0 of A and 2 of B without partner"));
}

TEST(RowVerdict, AnIntervalThatCoversLessThanAskedSaysSo) {
    const Row five = only_row(seeded(around(1, 0.001, 5)), seeded(around(1, 0.001, 5)));
    EXPECT_DOUBLE_EQ(five.level, 0.9375);
    EXPECT_THAT(five.reason, HasSubstr("the interval covers 93.75 % only"));
    const Row six = only_row(seeded(around(1, 0.001, 6)), seeded(around(1, 0.001, 6)));
    EXPECT_EQ(six.level, 0.95);
    EXPECT_THAT(six.reason, Not(HasSubstr("covers")));
    // Of 35 ways to mix three and four values, two are as far apart as can be.
    const Row few = only_row(series(around(1, 0.001, 3)), series(around(1, 0.001, 4)));
    EXPECT_NEAR(few.level, 1 - 2.0 / 35, 1e-12);
    EXPECT_THAT(few.reason, HasSubstr("covers 94.29 % only"));
}

TEST(RowVerdict, AmbiguousWithTooFewValues) {
    const Row row = only_row(series({1, 1.1}), series({2, 2.1}));
    expect(row, RowVerdict::ambiguous, Reason::too_few);
    EXPECT_NEAR(row.ratio, 1.95, 0.1);
    EXPECT_TRUE(std::isnan(row.low));
    EXPECT_TRUE(std::isnan(row.high));
}

std::vector<double> two_clusters(double low, double high, int n) {
    std::vector<double> values;
    for (int i = 0; i < n; ++i)
        values.push_back((i % 2 ? high : low) * (1 + 0.0005 * ((i * 7) % 11 - 5)));
    return values;
}

TEST(RowVerdict, AmbiguousWhenASideHasTwoClusters) {
    // The bimodal case of the literature: 22.5 and 25.5 ms.
    const Row row = only_row(series(two_clusters(22.5, 25.5, 40)), series(around(25.5, 0.001, 40)));
    expect(row, RowVerdict::ambiguous, Reason::bimodal);
}

TEST(RowVerdict, ClustersCloserThanTheMarginDoNotMatter) {
    Options wide;
    wide.margin = 0.2;
    expect(
        only_row(series(two_clusters(22.5, 25.5, 40)), series(two_clusters(22.5, 25.5, 40)), wide),
        RowVerdict::same, Reason::within_margin);
}

TEST(RowVerdict, AChangeLargerThanTheClustersDistanceIsAChange) {
    expect(only_row(series(two_clusters(22.5, 25.5, 40)), series(two_clusters(45, 51, 40))),
           RowVerdict::slower, Reason::beyond_margin);
}

TEST(RowVerdict, PairsOfTwoKindsOfWorkloadAreJudgedByTheirRatios) {
    // Half of the seeds make a workload twice as large; every pair is 30 % slower.
    const std::vector<double> workloads = two_clusters(1, 2, 20);
    std::vector<double> slower;
    for (std::size_t i = 0; i < workloads.size(); ++i)
        slower.push_back(workloads[i] * (1.3 + 0.001 * static_cast<double>(i % 7)));
    const Row row = only_row(seeded(workloads), seeded(slower));
    expect(row, RowVerdict::slower, Reason::beyond_margin);
    EXPECT_THAT(row.reason, HasSubstr("20 pairs, all above 1.01"));
    expect(only_row(seeded(workloads), seeded(workloads)), RowVerdict::same, Reason::within_margin);
    // Where the ratios themselves have two clusters, that is another matter.
    std::vector<double> by_half;
    for (std::size_t i = 0; i < workloads.size(); ++i)
        by_half.push_back(workloads[i] * (i % 4 < 2 ? 1 : 1.3) * (1 + 0.0001 * double(i % 7)));
    expect(only_row(seeded(workloads), seeded(by_half)), RowVerdict::ambiguous, Reason::bimodal);
}

/// Sessions of nine values each, around these levels.
Series sessions_around(const std::vector<double>& levels) {
    std::vector<std::vector<double>> sessions;
    for (const double level : levels) sessions.push_back(around(level, 0.001, 9));
    return of_sessions(sessions);
}

TEST(RowVerdict, SeveralSessionsAreComparedByTheirMedians) {
    // B's mornings happen to be slow ones; within a session all values agree.
    const Row chance = only_row(sessions_around({1, 1.03, 0.98, 1.02, 0.99}),
                                sessions_around({1.04, 1.01, 1.05, 0.995, 1.035}));
    expect(chance, RowVerdict::ambiguous, Reason::straddles_margin);
    EXPECT_THAT(chance.reason, HasSubstr("medians of 5 and 5 sessions, 45 and 45 values"));
    EXPECT_THAT(chance.reason, HasSubstr("more sessions would decide"));
    EXPECT_EQ(chance.n_a, 45) << "values, as ever";
    const Row slower = only_row(sessions_around({1, 1.03, 0.98, 1.02, 0.99}),
                                sessions_around({1.14, 1.11, 1.15, 1.095, 1.135, 1.1}));
    expect(slower, RowVerdict::slower, Reason::beyond_margin);
    EXPECT_THAT(slower.reason, HasSubstr("beyond-margin: medians of 5 and 6 sessions"));
    EXPECT_NEAR(slower.ratio, 1.12, 0.01);
    EXPECT_EQ(slower.n_b, 54);
}

TEST(RowVerdict, TooFewSessionsSayHowManyItTakes) {
    const Row two = only_row(sessions_around({1, 1.01}), sessions_around({2, 2.01}));
    expect(two, RowVerdict::ambiguous, Reason::too_few);
    EXPECT_THAT(two.reason, HasSubstr("it would take 4 and 4; medians of 2 and 2 sessions"));
    EXPECT_NEAR(two.ratio, 2, 0.01);
    EXPECT_TRUE(std::isnan(two.low));
    const std::vector<double> ten = around(1, 0.01, 10);
    EXPECT_THAT(only_row(sessions_around({1}), sessions_around(ten)).reason,
                HasSubstr("it would take 2 and 10; medians of 1 and 10 sessions"));
    const Row decided = only_row(sessions_around({1, 1.01, 1.02}), sessions_around({2, 2, 2, 2.1}));
    expect(decided, RowVerdict::slower, Reason::beyond_margin);
    EXPECT_THAT(decided.reason, HasSubstr("the interval covers 94.29 % only"));
    // One session against a month of them: how sessions differ is known from the many.
    expect(only_row(sessions_around(around(1, 0.01, 30)), sessions_around({1.2})),
           RowVerdict::slower, Reason::beyond_margin);
}

TEST(RowVerdict, CommonSeedsOfSeveralSessionsMakeNoPairs) {
    Series a = sessions_around({1, 1.03, 0.98, 1.02}), b = sessions_around({1.04, 1.01, 1.05, 1});
    for (Series* side : {&a, &b})
        for (std::size_t i = 0; i < side->points.size(); ++i)
            side->points[i].pair = "seed " + std::to_string(i);
    const Row row = only_row(a, b);
    EXPECT_FALSE(row.paired) << "36 pairs would share the chance of four sessions";
    EXPECT_EQ(row.verdict, RowVerdict::ambiguous);
}

TEST(RowVerdict, OneSessionAgainstOneSaysSo) {
    const Row row = only_row(sessions_around({1}), sessions_around({1.1}));
    expect(row, RowVerdict::slower, Reason::beyond_margin);
    EXPECT_THAT(row.reason, HasSubstr("unpaired, 9 and 9 values of one session each"));
}

TEST(RowVerdict, WhatIsEqualInAllSessionsIsTheSame) {
    const Series five = of_sessions({{5, 5}, {5, 5, 5}}), other = of_sessions({{5, 5}, {5, 6}});
    expect(only_row(five, five), RowVerdict::same, Reason::identical);
    expect(only_row(five, other), RowVerdict::ambiguous, Reason::too_few);
}

TEST(RowVerdict, WithoutARatioItIsSessionsThatCount) {
    const Series none = of_sessions({{0, 0, 0}, {0, 0, 0}}), lost = of_sessions({{3, 1}, {2, 5}});
    expect(only_row(none, lost), RowVerdict::ambiguous, Reason::not_positive);
    const Series never = of_sessions({{0}, {0}, {0}, {0}, {0}}),
                 ever = of_sessions({{3}, {1}, {2}, {4}, {5}});
    expect(only_row(never, ever), RowVerdict::slower, Reason::not_positive);
}

TEST(RowVerdict, SessionsDoNotMatterToWhatIsDeterministic) {
    Series a = deterministic({1, 2, 3}), b = deterministic({1, 2, 3});
    a.points[2].session = 2;
    expect(only_row(a, b), RowVerdict::same, Reason::identical);
    a = deterministic(around(1, 0.001, 9));
    b = deterministic(around(1.1, 0.001, 9));
    for (std::size_t i = 0; i < 9; ++i) {
        a.points[i].session = b.points[i].session = static_cast<int>(i / 3) + 1;
        b.points[i].pair += " of others";
    }
    const Row row = only_row(a, b);
    expect(row, RowVerdict::slower, Reason::beyond_margin);
    EXPECT_THAT(row.reason, HasSubstr("unpaired, 9 and 9 values"));
}

TEST(RowVerdict, DeterministicMetricsAreEqualSeedBySeed) {
    const Row row = only_row(deterministic({0, 2, 3}), deterministic({0, 2, 3}));
    expect(row, RowVerdict::same, Reason::identical);
    EXPECT_EQ(row.ratio, 1);
}

TEST(RowVerdict, OneDeterministicValueIsEnough) {
    expect(only_row(deterministic({5}), deterministic({5})), RowVerdict::same, Reason::identical);
    expect(only_row(deterministic({5}), deterministic({5.0000001})), RowVerdict::slower,
           Reason::changed);
}

TEST(RowVerdict, ADeterministicChangeGoesByItsDirection) {
    expect(only_row(deterministic({1, 2, 3}), deterministic({1, 2, 2.999})), RowVerdict::faster,
           Reason::changed);
    const Row row = only_row(deterministic({1, 2, 4}), deterministic({1, 3, 5}));
    expect(row, RowVerdict::slower, Reason::changed);
    EXPECT_DOUBLE_EQ(row.ratio, 1.25);
    EXPECT_DOUBLE_EQ(row.low, 1);
    EXPECT_DOUBLE_EQ(row.high, 1.5);
    EXPECT_THAT(row.reason, HasSubstr("2 of 3 pairs differ"));
}

TEST(RowVerdict, ADeterministicChangeBothWaysIsAmbiguous) {
    expect(only_row(deterministic({1, 2}), deterministic({2, 1})), RowVerdict::ambiguous,
           Reason::changed);
}

TEST(RowVerdict, ADeterministicMetricThatIsNoNumberOnOneSideChanged) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    expect(only_row(deterministic({1, nan}), deterministic({1, nan})), RowVerdict::same,
           Reason::identical);
    expect(only_row(deterministic({1, 2}), deterministic({1, nan})), RowVerdict::ambiguous,
           Reason::changed);
}

TEST(RowVerdict, DeterministicMetricsOfOtherSeedsAreJudgedAsAnyOther) {
    Series a = deterministic({1}), b = deterministic({2});
    b.points[0].pair = "seed 99";
    expect(only_row(a, b), RowVerdict::ambiguous, Reason::too_few);
}

TEST(RowVerdict, WithoutDirectionADifferenceIsAmbiguous) {
    Series a = seeded(around(1, 0.005, 9)), b = seeded(around(1.1, 0.005, 9));
    a.better = b.better = Direction::none;
    Options all;
    all.all_metrics = true;
    expect(only_row(a, b, all), RowVerdict::ambiguous, Reason::no_direction);
    EXPECT_TRUE(compare(arm({a}), arm({b})).empty()) << "shown only when asked for";
}

TEST(RowVerdict, NoRatioOfValuesThatAreNotPositive) {
    expect(only_row(series({0, 1, 2, 3, 4, 5, 6}), series({1, 2, 3, 4, 5, 6, 7})),
           RowVerdict::ambiguous, Reason::not_positive);
    expect(only_row(series({-1, -2}), series({-1, -2})), RowVerdict::ambiguous,
           Reason::not_positive);
    const double inf = std::numeric_limits<double>::infinity();
    const Row row = only_row(series({1, inf}), series({1, 2}));
    expect(row, RowVerdict::ambiguous, Reason::not_positive);
    EXPECT_TRUE(std::isnan(row.ratio));
}

TEST(RowVerdict, WithoutARatioTheOrderDecidesWhereTheSidesDoNotOverlap) {
    const Series none = series({0, 0, 0, 0, 0}), lost = series({3, 1, 2, 5, 4});
    const Row row = only_row(none, lost);
    expect(row, RowVerdict::slower, Reason::not_positive);
    EXPECT_TRUE(std::isnan(row.ratio));
    EXPECT_THAT(row.reason, HasSubstr("every value of B is above every value of A"));
    expect(only_row(lost, none), RowVerdict::faster, Reason::not_positive);
    expect(only_row(series({0, 0, 0, 0}), lost), RowVerdict::ambiguous, Reason::not_positive);
    expect(only_row(series({0, 0, 0, 0, 1}), lost), RowVerdict::ambiguous, Reason::not_positive);
    expect(only_row(series({-1, -1, -1, -1, -1}), series({-1.001, -1.001, -1.001, -1.001, -1.001})),
           RowVerdict::ambiguous, Reason::not_positive);
}

TEST(RowVerdict, ZeroEverywhereIsTheSame) {
    expect(only_row(series({0, 0, 0}), series({0, 0})), RowVerdict::same, Reason::identical);
}

TEST(RowVerdict, NotComparableWhenTheContextDiffers) {
    Series a = seeded(around(1, 0.001, 9)), b = a;
    b.context["hardware"] = "there";
    const Row row = only_row(a, b);
    expect(row, RowVerdict::not_comparable, Reason::context_differs);
    EXPECT_THAT(row.reason, HasSubstr("hardware here in A, there in B"));
    EXPECT_TRUE(std::isnan(row.ratio)) << "never compared silently";
    Options across;
    across.across = {"hardware"};
    expect(only_row(a, b, across), RowVerdict::same, Reason::within_margin);
}

TEST(RowVerdict, AnUnknownContextIsEqualAndTold) {
    Series a = seeded(around(1, 0.001, 9)), b = a;
    b.context.erase("hardware");
    const Row row = only_row(a, b);
    expect(row, RowVerdict::same, Reason::within_margin);
    EXPECT_THAT(row.reason, HasSubstr("; context unknown in B: hardware"));
    EXPECT_THAT(only_row(b, a).reason, HasSubstr("; context unknown in A: hardware"));
    Options across;
    across.across = {"hardware"};
    EXPECT_THAT(only_row(a, b, across).reason, Not(HasSubstr("unknown")));
}

TEST(RowVerdict, NotComparableWhereASideLacksTheSeries) {
    const Arm a = arm({series({1, 2, 3})}), none = arm({});
    expect(compare(a, none).at(0), RowVerdict::not_comparable, Reason::only_in_a);
    expect(compare(none, a).at(0), RowVerdict::not_comparable, Reason::only_in_b);
}

TEST(RowVerdict, FailedWhenASideHasNoSampleThatIsOk) {
    Series b = series({});
    b.failed = 3;
    const Row row = only_row(series(around(1, 0.001, 9)), b);
    expect(row, RowVerdict::failed, Reason::all_failed);
    EXPECT_THAT(row.reason, HasSubstr("all 3 samples of B failed"));
}

TEST(RowVerdict, FailedAndMarkedSamplesOfASideAreBothCounted) {
    Series b = series({});
    b.failed = 1;
    b.excluded = 9;
    const Row row = only_row(series(around(1, 0.001, 9)), b);
    expect(row, RowVerdict::failed, Reason::all_failed);
    EXPECT_THAT(row.reason,
                HasSubstr("of the 10 samples of B, 1 failed and 9 were marked invalid"));
}

TEST(RowVerdict, SamplesThatBeginToFailAreWarnedOf) {
    Series a = series(around(1, 0.001, 9)), b = series(around(1, 0.001, 6));
    b.failed = 3;
    const Row row = only_row(a, b);
    ASSERT_EQ(row.warnings.size(), 1u);
    EXPECT_EQ(row.warnings[0],
              "3 of 9 samples of B failed (0 of 9 of A): only the others are compared");
    EXPECT_TRUE(only_row(b, a).warnings.empty()) << "fewer than before";
    a.failed = 5;
    EXPECT_TRUE(only_row(a, b).warnings.empty()) << "no larger share than before";
}

TEST(RowVerdict, WhereBothFailedNothingBecameWorse) {
    Series a = series({}), b = a;
    a.failed = 2;
    b.failed = 3;
    const Row row = only_row(a, b);
    expect(row, RowVerdict::failed_before, Reason::all_failed);
    EXPECT_EQ(to_string(row.verdict), "failed before too");
    EXPECT_THAT(row.reason, HasSubstr("all 3 samples of B failed, and so it was before: all 2"));
}

TEST(RowVerdict, WhereOnlyAFailedNothingBecameWorse) {
    Series a = series({});
    a.failed = 3;
    const Row row = only_row(a, series(around(1, 0.001, 9)));
    expect(row, RowVerdict::not_comparable, Reason::all_failed);
    EXPECT_THAT(row.reason, HasSubstr("all 3 samples of A failed"));
}

TEST(RowVerdict, NotComparableWhenASidesSamplesWereAllMarked) {
    Series a = series({});
    a.excluded = 4;
    expect(only_row(a, series(around(1, 0.001, 9))), RowVerdict::not_comparable,
           Reason::all_excluded);
}

TEST(RowVerdict, AFailedCaseStandsForAllItsMetrics) {
    Series time = series(around(1, 0.001, 9)), rate = time, failed = series({});
    rate.name.metric = "rate";
    failed.name.metric = "";
    failed.better = Direction::none;
    failed.failed = 2;
    const Arm a = arm({time, rate}), b = arm({failed});
    const auto rows = compare(a, b);
    ASSERT_EQ(rows.size(), 2u);
    expect(rows[0], RowVerdict::failed, Reason::all_failed);
    expect(rows[1], RowVerdict::failed, Reason::all_failed);
    EXPECT_EQ(rows[0].id.metric, "time");
    EXPECT_EQ(rows[1].id.metric, "rate");
    const auto swapped = compare(b, a);
    ASSERT_EQ(swapped.size(), 2u);
    expect(swapped[0], RowVerdict::not_comparable, Reason::all_failed);
    EXPECT_EQ(swapped[0].id.metric, "time");
}

TEST(RowVerdict, WhatFailedBesidesIsTold) {
    Series a = seeded(around(1, 0.001, 9)), b = a;
    b.failed = 2;
    a.excluded = 1;
    const Row row = only_row(a, b);
    expect(row, RowVerdict::same, Reason::within_margin);
    EXPECT_THAT(row.reason, HasSubstr("1 excluded in A"));
    EXPECT_THAT(row.reason, HasSubstr("2 failed in B"));
}

TEST(RowVerdict, WhatDidNotCountIsToldOfEveryRowWithValues) {
    const auto reason = [](Series a, Series b) {
        a.failed = 2;
        b.excluded = 3;
        return only_row(a, b).reason;
    };
    const auto told = HasSubstr("; 2 failed in A; 3 excluded in B");
    EXPECT_THAT(reason(deterministic({1, 2}), deterministic({1, 2})), told);
    EXPECT_THAT(reason(deterministic({1, 2}), deterministic({1, 3})), told);
    EXPECT_THAT(reason(deterministic({1, 2}), deterministic({2, 1})), told);
    const auto unpaired = HasSubstr("unpaired, 2 and 1 values; 2 failed in A; 3 excluded in B");
    EXPECT_THAT(reason(series({0, 0}), series({0})), unpaired);
    EXPECT_THAT(reason(series({0, 1}), series({1})), unpaired);
    EXPECT_THAT(reason(series({1, 1}), series({1})), unpaired) << "too few";
}

TEST(RowVerdict, ASeriesOwnSpreadWidensItsMargin) {
    const Series a = seeded(around(1, 0.005, 9)), b = seeded(around(1.1, 0.005, 9));
    Options options;
    options.margins = {{RowId{"toy/fig1", "plain"}, 0.15}};
    const Row row = only_row(a, b, options);
    expect(row, RowVerdict::same, Reason::within_margin);
    EXPECT_EQ(row.margin, 0.15);
    options.margins = {{RowId{"toy/fig1", "plain"}, 0.001}};
    EXPECT_EQ(only_row(a, b, options).margin, options.margin) << "it never narrows it";
}

}  // namespace
}  // namespace assay::compare::testing
