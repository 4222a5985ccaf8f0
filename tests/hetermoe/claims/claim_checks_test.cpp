// Checks over several cases: the mean, the ends, and where a ratio is largest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>
#include <tuple>

#include "impls/hetermoe/experiments/experiments.hpp"

namespace assay::hetermoe {
namespace {

using ::testing::HasSubstr;

Observation seen(const char* variant, std::int64_t old, std::int64_t batch, double value) {
    Observation one;
    one.experiment = "hetermoe/fig10";
    one.variant = variant;
    one.axes = {{"old", old}, {"batch", batch}};
    one.metric = "tokens_per_s";
    one.value = value;
    one.seed = 1;
    return one;
}

Claim claim_of(double value, double absolute) {
    Claim claim;
    claim.id = "hetermoe/fig10/x";
    claim.metric = "tokens_per_s";
    claim.of.variant = "hetermoe";
    claim.over = Selector{.variant = "ep_ideal", .where = {}};
    claim.value = value;
    claim.absolute = absolute;
    claim.assumes = {{"batch", {4, 8}}};
    return claim;
}

// Ratios 1, 2 and 3 at 2, 3 and 4 old GPUs; at the other batch the last is 5.
std::vector<Observation> observations() {
    std::vector<Observation> all;
    for (const std::int64_t batch : {4, 8}) {
        for (const std::int64_t old : {2, 3, 4}) {
            all.push_back(seen("ep_ideal", old, batch, 10));
            all.push_back(
                seen("hetermoe", old, batch, batch == 8 && old == 4 ? 50 : 10.0 * (old - 1)));
        }
    }
    return all;
}

ClaimCheck checked(const char* name, double value, double absolute) {
    return claim_checks().at(name)(claim_of(value, absolute), observations());
}

TEST(HetermoeClaimChecks, HoldWhereTheyHoldAtEveryEnd) {
    EXPECT_EQ(checked("average", 2.3, 0.4).verdict, ClaimVerdict::supported);  // 2 and 2.67
    const ClaimCheck off = checked("average", 2, 0.4);
    EXPECT_EQ(off.verdict, ClaimVerdict::contradicted);
    EXPECT_DOUBLE_EQ(*off.obtained, 8.0 / 3);  // of the end that fails
    EXPECT_THAT(off.reason, HasSubstr("batch"));
    EXPECT_EQ(checked("largest", 4, 1).verdict, ClaimVerdict::supported);
    EXPECT_EQ(checked("largest", 3, 1).verdict, ClaimVerdict::contradicted);
    EXPECT_EQ(checked("smallest", 1, 0).verdict, ClaimVerdict::supported);
    EXPECT_EQ(checked("best_old", 1, 0).verdict, ClaimVerdict::supported);
    EXPECT_EQ(checked("best_old", 0.75, 0).verdict, ClaimVerdict::contradicted);
}

TEST(HetermoeClaimChecks, AreNotOfCasesWithFlows) {
    std::vector<Observation> all = observations();
    for (const char* variant : {"hetermoe", "ep_ideal"}) {
        all.push_back(seen(variant, 4, 4, variant[0] == 'h' ? 1000 : 10));
        all.back().axes["network"] = std::string("flows");
    }
    EXPECT_EQ(claim_checks().at("largest")(claim_of(4, 1), all).verdict, ClaimVerdict::supported);
}

// Of panel and sequence: HeterMoE's numbers, the rival's are 10.
std::vector<Observation> in_panels(
    const std::vector<std::tuple<const char*, std::int64_t, double>>& cases) {
    std::vector<Observation> all;
    for (const auto& [panel, sequence, value] : cases) {
        for (const char* variant : {"hetermoe", "ep_ideal"}) {
            Observation one = seen(variant, 4, 4, variant[0] == 'h' ? value : 10);
            one.axes = {{"panel", std::string(panel)}, {"sequence", sequence}};
            all.push_back(std::move(one));
        }
    }
    return all;
}

ClaimCheck in_panels(const char* name, double value, const std::vector<Observation>& seen) {
    Claim claim = claim_of(value, 0.01);
    claim.assumes.clear();
    if (std::string_view(name) == "least_12k_to_20k") claim.absolute.reset();
    return claim_checks().at(name)(claim, seen);
}

TEST(HetermoeClaimChecks, AskWhereTheExtremeIs) {
    const auto there = in_panels({{"w2-o2", 4, 9.7}, {"d1-o1", 20, 10}, {"d1-o1", 4, 10}});
    EXPECT_EQ(in_panels("only_loss_w2_o2_4k", 0.97, there).verdict, ClaimVerdict::supported);
    EXPECT_EQ(in_panels("only_loss_w2_o2_4k", 0.9, there).verdict, ClaimVerdict::contradicted);
    EXPECT_EQ(in_panels("largest_on_w2_o2", 1, there).verdict, ClaimVerdict::contradicted);
    const auto other = in_panels({{"w2-o2", 4, 9.7}, {"d1-o1", 20, 12}, {"d1-o1", 4, 9}});
    const ClaimCheck two = in_panels("only_loss_w2_o2_4k", 0.97, other);
    EXPECT_EQ(two.verdict, ClaimVerdict::contradicted);
    EXPECT_THAT(two.reason, HasSubstr("0.900 at"));
    EXPECT_EQ(in_panels("largest_on_d1_o1_20k", 1.2, other).verdict, ClaimVerdict::supported);
    EXPECT_EQ(in_panels("only_loss_w2_o2_4k", 0.97, in_panels({{"d1-o1", 20, 12}})).verdict,
              ClaimVerdict::not_run);
}

TEST(HetermoeClaimChecks, LookAtTheLengthsThatAreClaimed) {
    const auto seen = in_panels({{"d1-o1", 8, 1}, {"d1-o1", 12, 9.9}, {"d1-o1", 20, 9.8}});
    EXPECT_EQ(in_panels("least_12k_to_20k", 0.98, seen).verdict, ClaimVerdict::supported);
    EXPECT_EQ(in_panels("least_12k_to_20k", 0.985, seen).verdict, ClaimVerdict::contradicted);
    EXPECT_EQ(in_panels("least_12k_to_20k", 0.98, in_panels({{"d1-o1", 8, 1}})).verdict,
              ClaimVerdict::not_run);
}

TEST(HetermoeClaimChecks, TheMedianIsOfAbsoluteValuesOfAllVariants) {
    Claim claim = claim_of(0.05, 0);
    claim.assumes.clear();
    claim.absolute.reset();
    claim.over.reset();
    claim.of = {};
    const auto verdict = [&](std::vector<double> values) {
        std::vector<Observation> all;
        for (const double value : values) {
            all.push_back(seen(all.size() % 2 == 0 ? "hetermoe" : "ep", 4, 4, value));
            all.back().axes = {{"sequence", static_cast<std::int64_t>(all.size() / 2)}};
        }
        return claim_checks().at("median_at_most")(claim, all).verdict;
    };
    EXPECT_EQ(verdict({0.01, -0.02, 0.9}), ClaimVerdict::supported);
    EXPECT_EQ(verdict({0.01, -0.2, 0.9}), ClaimVerdict::contradicted);
    EXPECT_EQ(verdict({0.04, -0.04}), ClaimVerdict::supported);
    EXPECT_EQ(verdict({-0.06, -0.06, 0}), ClaimVerdict::contradicted);
    EXPECT_EQ(verdict({}), ClaimVerdict::not_run);
}

TEST(HetermoeClaimChecks, SayNothingWhereAnEndIsMissing) {
    std::vector<Observation> half = observations();
    std::erase_if(half, [](const Observation& one) {
        return one.axes.at("batch") == Value{std::int64_t{8}};
    });
    EXPECT_EQ(claim_checks().at("average")(claim_of(2, 1), half).verdict, ClaimVerdict::not_run);
}

}  // namespace
}  // namespace assay::hetermoe
