// Tests by an interval over seeds, reductions of several cases, and comparison at equal values of a
// second metric.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "suite/claim/equal_metric.hpp"
#include "suite/claim/seed_interval.hpp"

namespace {

using assay::Claim;
using assay::ClaimCheck;
using assay::ClaimVerdict;
using assay::Observation;
using assay::Standing;
using testing::HasSubstr;
using List = std::vector<Observation>;

Claim claim(const char* test, std::optional<double> value = std::nullopt) {
    Claim made;
    made.id = "s/f/a";
    made.experiment = "s/f";
    made.metric = "m";
    made.test.name = test;
    made.test.clearly = true;
    made.value = value;
    made.checkable = {{"toy", "measured"}};
    return made;
}

Claim ratio(const char* test, std::optional<double> value = std::nullopt) {
    Claim made = claim(test, value);
    made.of.variant = "v";
    made.over = assay::Selector{"w", {}};
    return made;
}

Observation seen(double value, std::uint64_t seed, const char* variant = "v",
                 assay::Case axes = {}) {
    Observation made;
    made.experiment = "s/f";
    made.variant = variant;
    made.metric = "m";
    made.value = value;
    made.provenance = assay::Provenance::measured;
    made.axes = std::move(axes);
    made.seed = seed;
    made.sample = variant + std::to_string(seed) + assay::to_string(made.axes);
    return made;
}

// One value a seed.
List values(std::initializer_list<double> of, assay::Case axes = {}, const char* variant = "v") {
    List list;
    std::uint64_t seed = 0;
    for (const double value : of) list.push_back(seen(value, ++seed, variant, axes));
    return list;
}

List joined(List one, const List& other) {
    one.insert(one.end(), other.begin(), other.end());
    return one;
}

ClaimVerdict verdict(const Claim& claim, const List& list) {
    return check(claim, list, {}).verdict;
}

}  // namespace

TEST(ClearTests, TheIntervalDecidesNotThePoint) {
    EXPECT_EQ(verdict(claim("at_least", 1), values({1.2, 1.3, 1.25})), ClaimVerdict::supported);
    EXPECT_EQ(verdict(claim("at_least", 1), values({0.9, 1.6, 1.3})), ClaimVerdict::undecided);
    EXPECT_EQ(verdict(claim("at_least", 1), values({0.7, 0.75, 0.72})), ClaimVerdict::contradicted);
    EXPECT_EQ(verdict(claim("at_most", 1), values({0.7, 0.75, 0.72})), ClaimVerdict::supported);
    EXPECT_EQ(verdict(claim("at_most", 1), values({1.2, 1.3, 1.25})), ClaimVerdict::contradicted);
    EXPECT_EQ(verdict(claim("greater", 1), values({1, 1, 1})), ClaimVerdict::contradicted);
    EXPECT_EQ(verdict(claim("at_least", 1), values({1, 1, 1})), ClaimVerdict::supported);
    Claim near = claim("near", 10);
    near.absolute = 1;
    EXPECT_EQ(verdict(near, values({10, 10.2, 9.9})), ClaimVerdict::supported);
    EXPECT_EQ(verdict(near, values({10, 11.5, 9.9})), ClaimVerdict::undecided);
    EXPECT_EQ(verdict(near, values({12, 12.2, 11.9})), ClaimVerdict::contradicted);
}

TEST(ClearTests, FewerSeedsThanWantedAreUndecided) {
    const ClaimCheck two = check(claim("at_least", 1), values({5, 5.1}), {});
    EXPECT_EQ(two.verdict, ClaimVerdict::undecided);
    EXPECT_THAT(two.reason, HasSubstr("over 2 seeds; 3 are wanted"));
    EXPECT_EQ(verdict(claim("at_least", 1), {}), ClaimVerdict::not_run);
    Claim content = claim("at_least", 1);
    content.test.seeds = 2;
    EXPECT_EQ(verdict(content, values({5, 5.1})), ClaimVerdict::supported);
    // A seed that was run twice is one seed.
    EXPECT_EQ(verdict(claim("at_least", 1), joined(values({5, 5.1}), values({5, 5.1}))),
              ClaimVerdict::undecided);
}

TEST(ClearTests, RatiosAreOfPairsAndLogarithms) {
    const auto against = [](std::initializer_list<double> v, std::initializer_list<double> w) {
        return joined(values(v), values(w, {}, "w"));
    };
    // Each pair differs by a tenth, seeds by much more.
    EXPECT_EQ(verdict(ratio("greater"), against({11, 110, 1100}, {10, 100, 1000})),
              ClaimVerdict::supported);
    EXPECT_EQ(verdict(ratio("greater"), against({9, 90, 900}, {10, 100, 1000})),
              ClaimVerdict::contradicted);
    const ClaimCheck twice = check(ratio("greater"), against({4, 1, 2}, {1, 4, 2}), {});
    EXPECT_EQ(twice.verdict, ClaimVerdict::undecided);
    EXPECT_NEAR(*twice.obtained, 1, 1e-12) << "fourfold and a quarter are equally far from 1";
    // Where a side is not positive, the difference speaks.
    EXPECT_EQ(verdict(ratio("greater"), against({1, 1.1, 0.9}, {0, 0, 0})),
              ClaimVerdict::supported);
    List no_common = values({5, 6, 7});
    for (Observation& one : no_common) one.seed += 10;
    EXPECT_EQ(verdict(ratio("greater"), joined(no_common, values({1, 1, 1}, {}, "w"))),
              ClaimVerdict::undecided);
}

// With many points one lies beyond by chance; it must do so after Holm.
TEST(ClearTests, TheSideThatContradictsIsCorrectedForThePoints) {
    const auto points = [](std::int64_t others) {
        List list = values({0.9, 0.95, 0.97}, {{"k", std::int64_t{0}}});
        for (std::int64_t k = 1; k <= others; ++k)
            list = joined(list, values({1.5, 1.6, 1.7}, {{"k", k}}));
        return list;
    };
    EXPECT_EQ(verdict(claim("at_least", 1.04), points(0)), ClaimVerdict::contradicted);
    EXPECT_EQ(verdict(claim("at_least", 1.04), points(20)), ClaimVerdict::undecided);
}

TEST(ClearTests, WalksGoSeedBySeed) {
    const auto walk = [](std::initializer_list<double> one, std::initializer_list<double> two,
                         std::initializer_list<double> three) {
        return joined(
            joined(values(one, {{"k", std::int64_t{1}}}), values(two, {{"k", std::int64_t{2}}})),
            values(three, {{"k", std::int64_t{3}}}));
    };
    Claim rises = claim("increasing");
    rises.test.along = "k";
    EXPECT_EQ(verdict(rises, walk({1, 5, 9}, {2, 6, 10}, {3, 7, 11})), ClaimVerdict::supported);
    EXPECT_EQ(verdict(rises, walk({1, 5, 9}, {2, 6, 10}, {3, 5, 11})), ClaimVerdict::undecided);
    const ClaimCheck falls = check(rises, walk({1, 5, 9}, {2, 6, 10}, {1, 5, 9}), {});
    EXPECT_EQ(falls.verdict, ClaimVerdict::contradicted);
    EXPECT_EQ(falls.obtained, -1) << "the worst step, later less earlier";
    Claim decreasing = claim("decreasing");
    decreasing.test.along = "k";
    EXPECT_EQ(verdict(decreasing, walk({3, 7, 11}, {2, 6, 10}, {1, 5, 9})),
              ClaimVerdict::supported);
    Claim order = claim("order");
    order.test.order = {"w", "v"};
    EXPECT_EQ(verdict(order, joined(values({1, 5, 9}), values({2, 6, 10}, {}, "w"))),
              ClaimVerdict::supported);
    EXPECT_EQ(verdict(order, joined(values({3, 7, 11}), values({2, 6, 10}, {}, "w"))),
              ClaimVerdict::contradicted);
}

TEST(Reductions, AreOfAllCasesSeedBySeed) {
    const auto cases = [](const List& extra = {}) {
        return joined(joined(values({1, 2, 3}, {{"k", std::int64_t{1}}}),
                             values({5, 4, 3}, {{"k", std::int64_t{2}}})),
                      extra);
    };
    Claim mean = claim("near", 3);
    mean.test.reduce = "mean";
    mean.absolute = 0.01;
    EXPECT_EQ(verdict(mean, cases()), ClaimVerdict::supported) << "3 in each seed";
    mean.test.cases = 3;
    EXPECT_EQ(verdict(mean, cases()), ClaimVerdict::not_run);
    EXPECT_EQ(verdict(mean, cases(values({3, 3, 3}, {{"k", std::int64_t{3}}}))),
              ClaimVerdict::supported);
}

TEST(Reductions, PlainOnesAreOfMedians) {
    Claim any = claim("near", 4);
    any.test.clearly = false;
    any.absolute = 0.01;
    const auto at = [](double value, std::int64_t k, const char* variant = "v") {
        return seen(value, 1, variant, {{"k", k}});
    };
    const List list{at(1, 1), at(4, 2), at(2, 3), at(-9, 4)};
    const auto obtained = [&](const char* reduce, const List& of) {
        any.test.reduce = reduce;
        return check(any, of, {}).obtained;
    };
    EXPECT_EQ(obtained("max", list), 4);
    EXPECT_EQ(obtained("min", list), -9);
    EXPECT_EQ(obtained("mean", list), -0.5);
    EXPECT_EQ(obtained("median", list), 1.5);
    any.test.absolute = true;
    EXPECT_EQ(obtained("max", list), 9);
    any.test.absolute = false;
    any.test.except = {{{"k", std::int64_t{4}}}};
    EXPECT_EQ(obtained("min", list), 1);
    any.test.except = {{{"k", std::int64_t{4}}, {"variant", std::string("w")}}};
    EXPECT_EQ(obtained("min", list), -9) << "another variant's";
    any.test.except.clear();
    any.test.between["k"] = {2, 3};
    EXPECT_EQ(obtained("min", list), 2);
    any.test.between.clear();
    List networked = list;
    networked[3].axes["network"] = std::string("flows");
    any.test.absent = {"network"};
    EXPECT_EQ(obtained("min", networked), 1);
    any.test.absent.clear();
    any.test.along = "k";
    EXPECT_EQ(obtained("argmax", list), 2);
    any.value = 3;
    EXPECT_EQ(obtained("argmax", {at(4, 1), at(4, 3), at(1, 2)}), 3) << "of equal ones any may";
}

TEST(Reductions, AnExtremeLiesWhereItShould) {
    Claim most = claim("near", 4);
    most.test.clearly = false;
    most.absolute = 0.01;
    most.test.reduce = "max";
    most.test.extreme_at = {{"k", std::int64_t{2}}};
    const auto of = [&](double first, double second) {
        return verdict(most, {seen(first, 1, "v", {{"k", std::int64_t{1}}}),
                              seen(second, 1, "v", {{"k", std::int64_t{2}}})});
    };
    EXPECT_EQ(of(1, 4), ClaimVerdict::supported);
    EXPECT_EQ(of(4, 4), ClaimVerdict::supported) << "of equal ones any may";
    EXPECT_EQ(of(4, 1), ClaimVerdict::contradicted);
    EXPECT_EQ(verdict(most, {seen(4, 1, "v", {{"k", std::int64_t{1}}})}), ClaimVerdict::not_run);
}

TEST(Reductions, AreNeverOfTwoCalibrations) {
    Claim mean = claim("near", 1);
    mean.test.clearly = false;
    mean.absolute = 0.01;
    mean.test.reduce = "mean";
    Observation one = seen(1, 1, "v", {{"k", std::int64_t{1}}}),
                other = seen(1, 1, "v", {{"k", std::int64_t{2}}});
    one.origin = {"machine", "old", "", "a"};
    other.origin = {"machine", "new", "", "b"};
    EXPECT_EQ(verdict(mean, {one, other}), ClaimVerdict::not_run);
    other.origin = {"machine", "old", "", "b"};
    EXPECT_EQ(verdict(mean, {one, other}), ClaimVerdict::supported);
}

TEST(SeedIntervals, KnowWhichEndIsUnknown) {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    const assay::Bounds above{.low = 0, .strictly = true};
    const auto standing = [&](std::vector<double> low, std::vector<double> high) {
        const auto found = assay::seed_interval({std::move(low), std::move(high)}, above, 3, 1);
        return std::pair(found.standing, found.open);
    };
    EXPECT_EQ(standing({1, 1.1, 1.2}, {infinite, infinite, infinite}),
              std::pair(Standing::holds, false));
    EXPECT_EQ(standing({-infinite, -infinite, -1}, {-1, -1.1, -1.2}),
              std::pair(Standing::fails, false));
    EXPECT_EQ(standing({-infinite, -infinite, -1}, {1, 1.1, 1.2}),
              std::pair(Standing::undecided, true));
    EXPECT_EQ(standing({-1, 1, 0}, {-1, 1, 0}), std::pair(Standing::undecided, false));
}

// Student's t for three values, 95 %: 4.30265 standard errors of the mean.
TEST(SeedIntervals, AreStudents) {
    assay::SeedValues values;
    for (const double value : {1.0, 2.0, 3.0}) values.add(value);
    const auto found = assay::seed_interval(values, {}, 3, 1);
    EXPECT_DOUBLE_EQ(found.mean, 2);
    EXPECT_NEAR(found.high - found.mean, 4.30265 / std::sqrt(3), 1e-5);
}

TEST(MedianRanges, HoldTheMedianAndComeFromSeedsAlone) {
    using assay::median_range;
    EXPECT_EQ(median_range({}, false).seeds, 0U);
    EXPECT_FALSE(median_range({1}, false).low) << "a point, no interval";
    EXPECT_FALSE(median_range({1, NAN}, false).low);
    // Student's t of three values.
    EXPECT_NEAR(*median_range({1, 2, 3}, false).high, 2 + 4.30265 / std::sqrt(3), 1e-5);
    EXPECT_NEAR(*median_range({std::exp(1), std::exp(2), std::exp(3)}, true).high,
                std::exp(2 + 4.30265 / std::sqrt(3)), 1e-3);
    // Of five the range of all is the interval of the median, whatever the mean is.
    const auto skewed = median_range({1, 1, 1, 1, 100}, false);
    EXPECT_EQ(skewed.low, 1);
    EXPECT_EQ(skewed.high, 100);
    for (std::size_t n = 2; n < 12; ++n) {
        std::vector<double> one_off(n, 1);
        one_off.back() = 1000;
        const auto range = median_range(one_off, true);
        EXPECT_LE(*range.low, n == 2 ? 500.5 : 1) << n;
        EXPECT_GE(*range.high, n == 2 ? 500.5 : 1) << n;
    }
}

TEST(ClearTests, TheIntervalIsPartOfTheCheck) {
    Claim plain = claim("at_least", 1);
    plain.test.clearly = false;
    for (const Claim& one : {plain, claim("at_least", 1)}) {
        const ClaimCheck found = check(one, values({1.2, 1.3, 1.25}), {});
        ASSERT_TRUE(found.basis);
        EXPECT_EQ(found.basis->seeds.seeds, 3U);
        EXPECT_LT(*found.basis->seeds.low, *found.obtained);
        EXPECT_GT(*found.basis->seeds.high, *found.obtained);
        EXPECT_EQ(found.basis->holds_at.size(), 1U);
    }
    EXPECT_FALSE(check(plain, values({1.2}), {}).basis->seeds.low);
    List exact = values({1.2, 1.3, 1.25});
    for (Observation& one : exact) one.provenance = assay::Provenance::exact;
    plain.checkable = {{"toy", "exact"}};
    EXPECT_FALSE(check(plain, exact, {}).basis->seeds.low) << "computed values have none";
    EXPECT_FALSE(check(plain, {}, {}).basis);
}

TEST(EqualMetric, ACurveIsInterpolatedAndBoundedBeyondItsEnds) {
    const std::vector<assay::CurvePoint> curve{{0.8, 3}, {0.4, 1}};
    EXPECT_DOUBLE_EQ(assay::loss_at(curve, 0.6).low, 2);
    EXPECT_DOUBLE_EQ(assay::loss_at(curve, 0.6).high, 2);
    EXPECT_DOUBLE_EQ(assay::loss_at(curve, 0.81).low, 3) << "close enough counts as equal";
    EXPECT_DOUBLE_EQ(assay::loss_at(curve, 0.81).high, 3);
    EXPECT_DOUBLE_EQ(assay::loss_at(curve, 0.9).low, 3);
    EXPECT_TRUE(std::isinf(assay::loss_at(curve, 0.9).high));
    EXPECT_TRUE(std::isinf(assay::loss_at(curve, 0.1).low));
    EXPECT_DOUBLE_EQ(assay::loss_at(curve, 0.1).high, 1);
    EXPECT_THROW(assay::loss_at({}, 0.5), std::invalid_argument);
}

TEST(EqualMetric, SidesAreComparedWhereTheyReachTheSame) {
    Claim better = ratio("greater");  // v costs more than w
    better.test.equal = "n";
    better.test.along = "k";
    // What was asked for, what was reached, what it cost; of each seed a little more.
    const auto add = [](List& list, const char* variant, double asked, double reached,
                        double cost) {
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
            list.push_back(
                seen(cost + 0.01 * static_cast<double>(seed), seed, variant, {{"k", asked}}));
            list.push_back(list.back());
            list.back().metric = "n";
            list.back().value = reached;
        }
    };
    List list;
    add(list, "v", 0.5, 0.4, 12);  // cheaper than w's second point, but it went less far
    add(list, "v", 0.9, 0.8, 30);
    add(list, "w", 0.5, 0.45, 10);
    add(list, "w", 0.9, 0.85, 20);
    const ClaimCheck found = check(better, list, {});
    EXPECT_EQ(found.verdict, ClaimVerdict::supported) << found.reason;
    EXPECT_THAT(found.reason, HasSubstr("at equal n m of v at"));
    Claim worse = ratio("at_most", 1);
    worse.test.equal = "n";
    worse.test.along = "k";
    EXPECT_EQ(verdict(worse, list), ClaimVerdict::contradicted);
    List apart;
    add(apart, "v", 0.5, 0.2, 12);
    add(apart, "w", 0.5, 0.9, 15);
    EXPECT_EQ(verdict(better, apart), ClaimVerdict::not_run) << "further and dearer tells nothing";
}
