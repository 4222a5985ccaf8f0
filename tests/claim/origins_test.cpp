// What a claim may set against what: machines, calibrations, input data and sessions.
#include <gtest/gtest.h>

#include "suite/claim/claim.hpp"

namespace {

using assay::Claim;
using assay::ClaimCheck;
using assay::ClaimVerdict;
using assay::Observation;
using assay::Origin;
using List = std::vector<Observation>;

const Origin here{"1111111111111111", "", "", "s1"}, there{"2222222222222222", "", "", "s2"};

Claim claim(const std::string& test) {
    Claim made;
    made.id = "s/f/a";
    made.experiment = "s/f";
    made.metric = "m";
    made.of.variant = "x";
    made.test.name = test;
    made.checkable = {{"toy", "measured"}};
    return made;
}

Claim x_over_y() {
    Claim made = claim("at_least");
    made.over = assay::Selector{"y", {}};
    made.value = 2;
    return made;
}

Observation seen(const std::string& variant, double value, Origin origin, assay::Case axes = {}) {
    Observation made;
    made.experiment = "s/f";
    made.variant = variant;
    made.axes = std::move(axes);
    made.provenance = assay::Provenance::measured;
    made.metric = "m";
    made.value = value;
    made.origin = std::move(origin);
    return made;
}

assay::Case at(std::int64_t n) { return {{"n", n}}; }

ClaimCheck checked(const Claim& claim, const List& observations) {
    return check(claim, observations, {});
}

bool says(const ClaimCheck& check, const std::string& words) {
    return check.reason.find(words) != std::string::npos;
}

using Sets = std::vector<std::vector<std::size_t>>;

Sets sets_of(const std::vector<Origin>& origins) {
    std::vector<const Origin*> pointers;
    for (const Origin& origin : origins) pointers.push_back(&origin);
    return assay::comparable_sets(pointers);
}

}  // namespace

TEST(ComparableSets, OneMachineAndOneStateOrOneSession) {
    EXPECT_EQ(sets_of({}), Sets{});
    EXPECT_EQ(sets_of({{}, {}, {}}), (Sets{{0, 1, 2}})) << "of nothing known all is alike";
    EXPECT_EQ(sets_of({{"b"}, {"a"}, {"b"}}), (Sets{{1}, {0, 2}}));
    EXPECT_EQ(sets_of({{"a", "c", "d", "1"}, {"a", "c", "d", "2"}}), (Sets{{0, 1}}));
    EXPECT_EQ(sets_of({{"a", "c", "d", "1"}, {"a", "e", "d", "2"}}), (Sets{{0}, {1}}));
    EXPECT_EQ(sets_of({{"a", "c", "d", "1"}, {"a", "c", "e", "2"}}), (Sets{{0}, {1}}));
    EXPECT_EQ(sets_of({{"a", "c", "d", "1"}, {"a", "e", "f", "1"}}), (Sets{{0, 1}}));
    EXPECT_EQ(sets_of({{"a", "c", "", ""}, {"a", "e", "", ""}}), (Sets{{0}, {1}}))
        << "an unknown session is not one session";
    EXPECT_EQ(sets_of({{"a", "c", "", "1"}, {"b", "e", "", "1"}}), (Sets{{0}, {1}}));
}

TEST(ClaimOrigin, ARatioNeverCrossesMachines) {
    const ClaimCheck apart = checked(x_over_y(), {seen("x", 4, here), seen("y", 2, there)});
    EXPECT_EQ(apart.verdict, ClaimVerdict::not_run);
    EXPECT_TRUE(says(apart, "only across machines, calibrations or input data")) << apart.reason;
    EXPECT_TRUE(says(apart, "`assay run s/f")) << apart.reason;
    EXPECT_EQ(apart.obtained, std::nullopt);
    EXPECT_EQ(checked(x_over_y(), {seen("x", 4, here), seen("y", 2, here)}).verdict,
              ClaimVerdict::supported);
    EXPECT_FALSE(says(checked(x_over_y(), {seen("x", 4, here)}), "across"))
        << "a side that nobody ran";
}

TEST(ClaimOrigin, ARatioNeverCrossesCalibrationsOrDataOfTwoSessions) {
    for (const Origin& other :
         {Origin{here.hardware, "edited", "", "s2"}, Origin{here.hardware, "", "edited", "s2"}})
        EXPECT_EQ(checked(x_over_y(), {seen("x", 4, here), seen("y", 2, other)}).verdict,
                  ClaimVerdict::not_run);
    const Origin later{here.hardware, "", "", "s2"}, beside{here.hardware, "two", "", "s1"};
    EXPECT_EQ(checked(x_over_y(), {seen("x", 4, here), seen("y", 2, later)}).verdict,
              ClaimVerdict::supported);
    EXPECT_EQ(checked(x_over_y(), {seen("x", 4, here), seen("y", 2, beside)}).verdict,
              ClaimVerdict::supported)
        << "a session knows why its calibrations differ";
}

TEST(ClaimOrigin, AMedianNeverMixesStates) {
    Claim open = claim("at_most");
    open.value = 3;
    const Origin edited{here.hardware, "", "edited", "s2"};
    const ClaimCheck two = checked(open, {seen("x", 2, here), seen("x", 100, edited)});
    EXPECT_EQ(two.verdict, ClaimVerdict::contradicted);
    EXPECT_EQ(two.obtained, 100);
    EXPECT_TRUE(says(two, "(1 sample, ")) << two.reason;
}

TEST(ClaimOrigin, WalksAndOrdersStayInOneState) {
    Claim rises = claim("increasing");
    rises.test.along = "n";
    const Origin edited{here.hardware, "edited", "", "s2"}, both{here.hardware, "edited", "", "s1"};
    EXPECT_EQ(checked(rises, {seen("x", 1, here, at(1)), seen("x", 2, edited, at(2))}).verdict,
              ClaimVerdict::not_run);
    EXPECT_EQ(checked(rises, {seen("x", 1, here, at(1)), seen("x", 2, there, at(2))}).verdict,
              ClaimVerdict::not_run);
    EXPECT_EQ(checked(rises, {seen("x", 1, here, at(1)), seen("x", 2, both, at(2))}).verdict,
              ClaimVerdict::supported)
        << "where the axis decides the calibration, one session has run it all";
    Claim order = claim("order");
    order.of = {};
    order.test.order = {"x", "y"};
    EXPECT_EQ(checked(order, {seen("x", 2, here), seen("y", 1, edited)}).verdict,
              ClaimVerdict::not_run);
    EXPECT_EQ(checked(order, {seen("x", 2, here), seen("y", 1, both)}).verdict,
              ClaimVerdict::supported);
}

TEST(ClaimOrigin, APieceOfAWalkDoesNotTakeAwayACompleteOne) {
    const Origin edited{here.hardware, "edited", "", "s2"};
    const auto labelled = [](Observation made, std::int64_t k) {
        made.labels = {{"k", k}};
        return made;
    };
    Claim rises = claim("increasing");
    rises.test.along = "n";
    const Observation piece = seen("x", 0, edited, at(3));
    List seen_here{seen("x", 1, here, at(1)), seen("x", 2, here, at(2)), piece};
    EXPECT_EQ(checked(rises, seen_here).verdict, ClaimVerdict::supported);
    seen_here[1].value = 0.5;
    EXPECT_EQ(checked(rises, seen_here).verdict, ClaimVerdict::contradicted);
    for (Observation& one : seen_here) one = labelled(one, 1);
    seen_here.push_back(labelled(piece, 2));
    EXPECT_EQ(checked(rises, seen_here).verdict, ClaimVerdict::not_run)
        << "the complete walk is that of another case";

    Claim order = claim("order");
    order.of = {};
    order.test.order = {"x", "y"};
    const Observation lone = seen("x", 9, edited, at(1));
    List ordered{seen("x", 2, here, at(1)), seen("y", 1, here, at(1)), lone};
    EXPECT_EQ(checked(order, ordered).verdict, ClaimVerdict::supported);
    ordered.push_back(seen("x", 9, edited, at(2)));
    EXPECT_EQ(checked(order, ordered).verdict, ClaimVerdict::not_run);
}

TEST(ClaimOrigin, MachinesThatAgreeAreNamedTogether) {
    List both{seen("x", 5, here), seen("y", 2, here), seen("x", 4, there), seen("y", 2, there)};
    const ClaimCheck check = checked(x_over_y(), both);
    EXPECT_EQ(check.verdict, ClaimVerdict::supported);
    EXPECT_EQ(check.obtained, 2) << "the least favourable";
    EXPECT_TRUE(says(check, "holds on all 2 machines (11111111, 22222222); on 22222222: m of x"))
        << check.reason;
    both[2].host = both[3].host = "node7";
    EXPECT_TRUE(says(checked(x_over_y(), both), "22222222 (node7)"));
    Claim higher = x_over_y();
    higher.value = 3;
    const ClaimCheck neither = checked(higher, both);
    EXPECT_EQ(neither.verdict, ClaimVerdict::contradicted);
    EXPECT_TRUE(says(neither, "does not hold on all 2 machines")) << neither.reason;
}

TEST(ClaimOrigin, TrueOnOneMachineAndFalseOnAnotherSaysSo) {
    const List differ{seen("x", 5, here), seen("y", 2, here), seen("x", 3, there),
                      seen("y", 2, there)};
    const ClaimCheck check = checked(x_over_y(), differ);
    EXPECT_EQ(check.verdict, ClaimVerdict::contradicted);
    EXPECT_EQ(check.obtained, 1.5);
    EXPECT_EQ(check.reason.rfind("holds on 11111111, not on 22222222; on 22222222: m of x", 0), 0u)
        << check.reason;
    Claim known = x_over_y();
    known.explained = {"Slow memory.", *checked(known, differ).obtained, 0.1};
    EXPECT_EQ(checked(known, differ).verdict, ClaimVerdict::contradicted);
    EXPECT_TRUE(is_explained(known, checked(known, differ)));
    // One that cannot answer has no say.
    List partly(differ.begin(), differ.begin() + 3);
    EXPECT_EQ(checked(x_over_y(), partly).verdict, ClaimVerdict::supported);
    EXPECT_FALSE(says(checked(x_over_y(), partly), "machines"));
}

TEST(ClaimOrigin, CustomChecksSeeOneComparableSetAtATime) {
    Claim custom = claim("custom:both");
    custom.metric.clear();
    const std::map<std::string, assay::CustomCheck, std::less<>> checks{
        {"both", [](const Claim&, std::span<const Observation> observations) {
             ClaimCheck result;
             double x = 0, y = 0;
             for (const Observation& o : observations) (o.variant == "x" ? x : y) = o.value;
             if (x == 0 || y == 0) return result;
             result.verdict = x > y ? ClaimVerdict::supported : ClaimVerdict::contradicted;
             result.reason = std::to_string(observations.size()) + " seen";
             return result;
         }}};
    const Origin edited{here.hardware, "", "edited", "s2"}, beside{here.hardware, "", "two", "s1"};
    const auto verdict = [&](const List& list) { return check(custom, list, checks).verdict; };
    EXPECT_EQ(verdict({seen("x", 2, here), seen("y", 1, there)}), ClaimVerdict::not_run);
    EXPECT_EQ(verdict({seen("x", 2, here), seen("y", 1, edited)}), ClaimVerdict::not_run);
    EXPECT_EQ(verdict({seen("x", 2, here), seen("y", 1, beside)}), ClaimVerdict::supported);
    EXPECT_EQ(verdict({seen("x", 2, here), seen("y", 1, beside), seen("z", 1, edited)}),
              ClaimVerdict::supported)
        << "where no calibration and data answer, a session does";
    EXPECT_EQ(verdict({seen("x", 2, here), seen("y", 1, here), seen("x", 1, edited),
                       seen("y", 2, edited)}),
              ClaimVerdict::contradicted)
        << "each set must hold";
}
