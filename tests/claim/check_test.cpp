// The tests of claims on observations: values, medians, ratios, walks, orders, several cases.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "suite/claim/claim.hpp"

namespace {

using assay::Claim;
using assay::ClaimCheck;
using assay::ClaimVerdict;
using assay::Observation;
using List = std::vector<Observation>;

Claim claim(const std::string& test) {
    Claim made;
    made.id = "s/f/a";
    made.experiment = "s/f";
    made.metric = "m";
    made.of.variant = "x";
    made.test.name = test;
    made.value = 10;
    made.absolute = 1;
    made.checkable = {{"toy", "exact"}};
    return made;
}

Observation seen(const std::string& variant, double value, std::uint64_t seed = 1,
                 assay::Case axes = {}, assay::Labels labels = {}) {
    Observation made;
    made.experiment = "s/f";
    made.variant = variant;
    made.axes = std::move(axes);
    made.metric = "m";
    made.labels = std::move(labels);
    made.value = value;
    made.seed = seed;
    return made;
}

ClaimCheck checked(const Claim& claim, const List& observations) {
    return check(claim, observations, {});
}

ClaimVerdict verdict(const Claim& claim, const List& observations) {
    return checked(claim, observations).verdict;
}

constexpr ClaimVerdict yes = ClaimVerdict::supported, no = ClaimVerdict::contradicted;
const double not_a_number = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST(ClaimCheck, NearIsWithinTheWiderTolerance) {
    EXPECT_EQ(verdict(claim("near"), {seen("x", 11)}), yes);
    EXPECT_EQ(verdict(claim("near"), {seen("x", 9)}), yes);
    EXPECT_EQ(verdict(claim("near"), {seen("x", 11.01)}), no);
    Claim wide = claim("near");
    wide.relative = 0.2;
    EXPECT_EQ(verdict(wide, {seen("x", 12)}), yes);
    EXPECT_EQ(verdict(wide, {seen("x", 12.1)}), no);
    Claim exact = claim("near");
    exact.absolute = 0;
    exact.value = 0.3;
    EXPECT_EQ(verdict(exact, {seen("x", 0.1 + 0.2)}), yes) << "rounding is no difference";
}

TEST(ClaimCheck, BoundsHaveAMargin) {
    EXPECT_EQ(verdict(claim("at_least"), {seen("x", 9)}), yes);
    EXPECT_EQ(verdict(claim("at_least"), {seen("x", 8.9)}), no);
    EXPECT_EQ(verdict(claim("at_most"), {seen("x", 11)}), yes);
    EXPECT_EQ(verdict(claim("at_most"), {seen("x", 11.1)}), no);
    EXPECT_EQ(verdict(claim("greater"), {seen("x", 10)}), no) << "greater is strict";
    EXPECT_EQ(verdict(claim("greater"), {seen("x", 10.001)}), yes);
}

TEST(ClaimCheck, TheMedianOverSeedsAndRoundsCounts) {
    const ClaimCheck check =
        checked(claim("near"), {seen("x", 100, 1), seen("x", 10, 2), seen("x", 9.5, 2)});
    EXPECT_EQ(check.verdict, yes);
    EXPECT_EQ(check.obtained, 10);
    EXPECT_EQ(check.provenance, assay::Provenance::exact);
    EXPECT_EQ(check.reason, "m of x is 10 (median of 3 samples, 9.5 … 100); claimed is 10 ± 1");
    EXPECT_EQ(checked(claim("near"), {seen("x", 9), seen("x", 10)}).obtained, 9.5);
}

TEST(ClaimCheck, NotANumberNeverHolds) {
    for (const char* test : {"near", "at_least", "at_most", "greater"}) {
        EXPECT_EQ(verdict(claim(test), {seen("x", not_a_number)}), no) << test;
        EXPECT_EQ(verdict(claim(test), {seen("x", not_a_number), seen("x", 10.5)}), no) << test;
    }
}

TEST(ClaimCheck, OpenAxesMustHoldInEveryCase) {
    const List both{seen("x", 10, 1, {{"model", std::string("s")}}),
                    seen("x", 20, 1, {{"model", std::string("l")}})};
    const ClaimCheck check = checked(claim("near"), both);
    EXPECT_EQ(check.verdict, no);
    EXPECT_EQ(check.obtained, 20) << "the least favourable case is reported";
    EXPECT_EQ(
        check.reason,
        "m of x at model=l is 20 (1 sample); claimed is 10 ± 1 (the least favourable of 2 cases)");
    Claim narrowed = claim("near");
    narrowed.of.where = {{"model", std::string("s")}};
    EXPECT_EQ(verdict(narrowed, both), yes);
}

TEST(ClaimCheck, SelectorsReachAxesAndLabelsAndCompareNumbersAsNumbers) {
    Claim at = claim("near");
    at.of.where = {{"failed", 4.0}, {"step", std::int64_t{200}}};
    EXPECT_EQ(verdict(at, {seen("x", 10, 1, {{"step", std::int64_t{200}}},
                                {{"failed", std::int64_t{4}}})}),
              yes);
    EXPECT_EQ(verdict(at, {seen("x", 10, 1, {{"step", std::string("200")}},
                                {{"failed", std::int64_t{4}}})}),
              ClaimVerdict::not_run);
    EXPECT_EQ(verdict(at, {seen("x", 10, 1, {{"step", std::int64_t{200}}})}),
              ClaimVerdict::not_run);
}

TEST(ClaimCheck, RatiosArePairedBySeed) {
    Claim ratio = claim("near");
    ratio.value = 2;
    ratio.absolute = 0.01;
    ratio.over = assay::Selector{"y", {}};
    // Seeds differ wildly in size; within each the ratio is 2.
    const List paired{seen("x", 2, 1), seen("x", 200, 2), seen("x", 20, 3), seen("y", 10, 3),
                      seen("y", 1, 1), seen("y", 100, 2), seen("y", 7, 9)};
    const ClaimCheck check = checked(ratio, paired);
    EXPECT_EQ(check.verdict, yes);
    EXPECT_EQ(check.obtained, 2);
    EXPECT_EQ(check.reason,
              "m of x over that of y is 2 (median of 3 pairs, 2 … 2); claimed is 2 ± 0.01");
    const ClaimCheck unpaired = checked(ratio, {seen("x", 4, 1), seen("y", 2, 2)});
    EXPECT_EQ(unpaired.verdict, yes);
    EXPECT_NE(unpaired.reason.find("no common seeds"), std::string::npos);
    EXPECT_EQ(verdict(ratio, {seen("x", 4, 1)}), ClaimVerdict::not_run) << "half a ratio is none";
}

TEST(ClaimCheck, RatiosCompareEqualCasesOnly) {
    Claim ratio = claim("greater");
    ratio.value.reset();
    ratio.over = assay::Selector{"y", {}};
    const auto at = [](std::int64_t k) { return assay::Labels{{"k", k}}; };
    EXPECT_EQ(verdict(ratio, {seen("x", 2, 1, {}, at(1)), seen("y", 1, 1, {}, at(1)),
                              seen("x", 20, 1, {}, at(2)), seen("y", 10, 1, {}, at(2))}),
              yes);
    EXPECT_EQ(verdict(ratio, {seen("x", 2, 1, {}, at(1)), seen("y", 1, 1, {}, at(2))}),
              ClaimVerdict::not_run);
}

TEST(ClaimCheck, ARatioAcrossAxisValuesOfOneVariant) {
    Claim ratio = claim("near");
    ratio.of.where = {{"n", std::int64_t{8}}};
    ratio.over = assay::Selector{"x", {{"n", std::int64_t{4}}}};
    EXPECT_EQ(checked(ratio, {seen("x", 50, 1, {{"n", std::int64_t{8}}}),
                              seen("x", 5, 1, {{"n", std::int64_t{4}}})})
                  .obtained,
              10);
}

TEST(ClaimCheck, AnOpenVariantIsNamedInTheReason) {
    Claim any = claim("near");
    any.of.variant.clear();
    const ClaimCheck check =
        checked(any, {seen("x", 10), seen("y", 20, 1, {{"n", std::int64_t{4}}})});
    EXPECT_EQ(
        check.reason,
        "m of y at n=4 is 20 (1 sample); claimed is 10 ± 1 (the least favourable of 2 cases)");
}

TEST(ClaimCheck, GreaterThanZeroOfTheOtherSide) {
    Claim more = claim("greater");
    more.value.reset();
    more.over = assay::Selector{"y", {}};
    EXPECT_EQ(verdict(more, {seen("x", 0.2), seen("y", 0)}), yes);
    EXPECT_EQ(verdict(more, {seen("x", 0), seen("y", 0)}), no);
    EXPECT_EQ(verdict(more, {seen("x", 0.1), seen("y", 0.2)}), no);
}

TEST(ClaimCheck, MonotoneWalksMayRestButMustArrive) {
    Claim falls = claim("decreasing");
    falls.test.along = "k";
    falls.absolute.reset();
    const auto walk = [](std::initializer_list<double> values) {
        List list;
        std::int64_t k = 0;
        for (const double value : values) list.push_back(seen("x", value, 1, {}, {{"k", k++}}));
        return list;
    };
    EXPECT_EQ(verdict(falls, walk({1, 1, 0.9, 0.9, 0.1})), yes);
    EXPECT_EQ(verdict(falls, walk({1, 1, 1})), no) << "flat is not decreasing";
    EXPECT_EQ(verdict(falls, walk({1})), ClaimVerdict::not_run);
    const ClaimCheck bump = checked(falls, walk({1, 0.4, 0.5, 0}));
    EXPECT_EQ(bump.verdict, no);
    EXPECT_EQ(bump.reason,
              "m of x goes from 0.4 (k=1) to 0.5 (k=2); claimed is that it is decreasing along k");
    falls.absolute = 0.2;
    EXPECT_EQ(verdict(falls, walk({1, 0.4, 0.5, 0})), yes) << "a bump within the tolerance";
    Claim rises = falls;
    rises.test.name = "increasing";
    EXPECT_EQ(verdict(rises, walk({0, 1, 2, 10, 11})), yes);
    EXPECT_EQ(verdict(rises, walk({1, not_a_number})), no);
}

TEST(ClaimCheck, WalksSortNumbersAsNumbers) {
    Claim rises = claim("increasing");
    rises.test.along = "n";
    rises.absolute.reset();
    EXPECT_EQ(
        verdict(rises, {seen("x", 3, 1, {{"n", std::int64_t{10}}}), seen("x", 2, 1, {{"n", 9.5}}),
                        seen("x", 1, 1, {{"n", std::int64_t{9}}})}),
        yes);
}

TEST(ClaimCheck, OrderOfVariants) {
    Claim order = claim("order");
    order.of.variant.clear();
    order.test.order = {"a", "b", "c"};
    order.absolute.reset();
    EXPECT_EQ(verdict(order, {seen("c", 1), seen("a", 3), seen("b", 3), seen("other", 9)}), yes);
    EXPECT_EQ(verdict(order, {seen("c", 1), seen("a", 2), seen("b", 3)}), no);
    EXPECT_EQ(verdict(order, {seen("c", 1), seen("a", 1), seen("b", 1)}), no)
        << "all equal is no order";
    EXPECT_EQ(verdict(order, {seen("a", 3), seen("b", 2)}), ClaimVerdict::not_run);
}

TEST(ClaimCheck, OrderAlongAnAxis) {
    Claim order = claim("order");
    order.test.along = "model";
    order.test.order = {"l", "s"};
    const auto at = [](const char* model) { return assay::Case{{"model", std::string(model)}}; };
    EXPECT_EQ(verdict(order, {seen("x", 1, 1, at("s")), seen("x", 5, 1, at("l"))}), yes);
    EXPECT_EQ(verdict(order, {seen("x", 5, 1, at("s")), seen("x", 1, 1, at("l"))}), no);
}

TEST(ClaimCheck, TheOrderOfObservationsDoesNotMatter) {
    std::mt19937 shuffler(7);
    for (const char* test : {"near", "greater", "decreasing", "order"}) {
        Claim any = claim(test);
        List list;
        for (int i = 0; i < 40; ++i) {
            const std::string variant = i % 2 ? "x" : "y";
            list.push_back(seen(variant, 50 - i + (i * 7) % 5, static_cast<std::uint64_t>(i % 5),
                                {{"k", std::int64_t{i / 10}}}));
        }
        if (any.test.name == "greater") any.over = assay::Selector{"y", {}};
        if (any.test.name == "decreasing") any.test.along = "k";
        if (any.test.name == "order") {
            any.of.variant.clear();
            any.test.order = {"y", "x"};
        }
        const ClaimCheck first = checked(any, list);
        EXPECT_NE(first.verdict, ClaimVerdict::not_run) << test;
        for (int round = 0; round < 20; ++round) {
            std::shuffle(list.begin(), list.end(), shuffler);
            const ClaimCheck again = checked(any, list);
            EXPECT_EQ(again.verdict, first.verdict) << test;
            EXPECT_EQ(again.reason, first.reason) << test;
            EXPECT_EQ(again.obtained, first.obtained) << test;
        }
    }
}

TEST(ClaimCheck, ScalingBothSidesLeavesARatioAlone) {
    Claim ratio = claim("near");
    ratio.over = assay::Selector{"y", {}};
    const auto obtained = [&](double scale) {
        List list;
        for (int i = 1; i < 8; ++i) {
            list.push_back(seen("x", scale * i * i, static_cast<std::uint64_t>(i)));
            list.push_back(seen("y", scale * (i + 3), static_cast<std::uint64_t>(i)));
        }
        return *checked(ratio, list).obtained;
    };
    EXPECT_DOUBLE_EQ(obtained(1), obtained(1024));
}
