// Claims at equal measured sparsity, on curves whose answer is known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "impls/lte/claims/claim_checks.hpp"
#include "tests/lte/claims/observations.hpp"

namespace assay::lte {
namespace {

// What is known of a loss between and beyond the points at which it was measured.

const std::vector<QualityPoint> curve{{0.8, 3.0}, {0.2, 1.0}, {0.4, 1.5}};  // not in order
constexpr double unknown = std::numeric_limits<double>::infinity();

TEST(LteEqualSparsity, InterpolatesBetweenNeighbours) {
    for (const auto& [sparsity, loss] :
         {std::pair{0.2, 1.0}, {0.3, 1.25}, {0.4, 1.5}, {0.6, 2.25}, {0.8, 3.0}}) {
        EXPECT_NEAR(loss_at(curve, sparsity).low, loss, 1e-12) << sparsity;
        EXPECT_NEAR(loss_at(curve, sparsity).high, loss, 1e-12) << sparsity;
    }
}

TEST(LteEqualSparsity, BeyondTheEndsOnlyMonotonyIsTakenForGranted) {
    EXPECT_EQ(loss_at(curve, 0.1).low, -unknown);
    EXPECT_EQ(loss_at(curve, 0.1).high, 1.0);
    EXPECT_EQ(loss_at(curve, 0.9).low, 3.0);
    EXPECT_EQ(loss_at(curve, 0.9).high, unknown);
}

TEST(LteEqualSparsity, NearlyEqualCountsAsEqual) {
    EXPECT_EQ(loss_at(curve, 0.185).low, 1.0);
    EXPECT_EQ(loss_at(curve, 0.815).high, 3.0);
    EXPECT_EQ(loss_at(curve, 0.175).low, -unknown);
    EXPECT_EQ(loss_at(curve, 0.825).high, unknown);
}

TEST(LteEqualSparsity, OnePointIsACurve) {
    EXPECT_EQ(loss_at({{0.5, 2}}, 0.51).low, 2);
    EXPECT_EQ(loss_at({{0.5, 2}}, 0.9).low, 2);
    EXPECT_THROW(loss_at({}, 0.5), std::invalid_argument);
}

TEST(LteEqualSparsity, TwoMeasurementsAtOneSparsityAreNoTrap) {
    const LossBounds bounds = loss_at({{0.2, 1}, {0.5, 2}, {0.5, 2.2}, {0.8, 3}}, 0.5);
    EXPECT_GE(bounds.low, 2);
    EXPECT_LE(bounds.high, 2.2);
}

// Who is better at equal measured sparsity, on curves whose answer is known.

using testing::HasSubstr;

Case asked(double sparsity, const std::string& model = "gpt-toy") {
    return {{"model", model}, {"sparsity", sparsity}};
}

ClaimCheck better(const MadeUp& made, Claim claim = made_up_claim("perplexity", "lte", "rival")) {
    return better_at_equal_sparsity(claim, made.all());
}

TEST(LteEqualSparsityChecks, ReadNotRunWithoutResults) {
    for (const auto& [name, check] : claim_checks()) {
        const ClaimCheck result = check(made_up_claim("perplexity", "lte", "rival"), {});
        EXPECT_EQ(result.verdict, ClaimVerdict::not_run) << name;
        EXPECT_THAT(result.reason, HasSubstr("assay run lte/fig6")) << name;
        EXPECT_FALSE(result.obtained) << name;
    }
}

TEST(LteEqualSparsityChecks, LowerPerplexityAtLowerSparsityIsNotBetter) {
    // Asked for 0.5 both, but LTE left much less out: on the rival's curve it is the worse one.
    MadeUp made;
    made.sample("lte", asked(0.5), 0.3, 4.5).sample("lte", asked(0.75), 0.7, 7.5);
    made.sample("rival", asked(0.25), 0.25, 4.0).sample("rival", asked(0.5), 0.5, 5.0);
    made.sample("rival", asked(0.75), 0.75, 7.0);
    const ClaimCheck result = better(made);
    EXPECT_EQ(result.verdict, ClaimVerdict::contradicted) << result.reason;
    // Worst where the rival has its 5.0: halfway between LTE's points, whose geometric mean
    // is 5.81.
    EXPECT_NEAR(*result.obtained, std::sqrt(4.5 * 7.5) / 5.0, 1e-9);
}

TEST(LteEqualSparsityChecks, HigherPerplexityAtHigherSparsityMayBeBetter) {
    MadeUp made;
    made.sample("lte", asked(0.5), 0.6, 5.2).sample("lte", asked(0.75), 0.85, 6.5);
    made.sample("rival", asked(0.5), 0.5, 5.0).sample("rival", asked(0.75), 0.75, 7.0);
    const ClaimCheck result = better(made);
    EXPECT_EQ(result.verdict, ClaimVerdict::supported) << result.reason;
    EXPECT_LT(*result.obtained, 1);
}

TEST(LteEqualSparsityChecks, CurvesThatDoNotMeetTellOnlyByMonotony) {
    // Lower perplexity with more left out: better, whatever the curves look like.
    MadeUp dominates;
    dominates.sample("lte", asked(0.5), 0.6, 4.0).sample("rival", asked(0.5), 0.5, 5.0);
    EXPECT_EQ(better(dominates).verdict, ClaimVerdict::supported);
    MadeUp dominated;
    dominated.sample("lte", asked(0.5), 0.4, 6.0).sample("rival", asked(0.5), 0.5, 5.0);
    EXPECT_EQ(better(dominated).verdict, ClaimVerdict::contradicted);
    MadeUp open;
    open.sample("lte", asked(0.5), 0.4, 4.0).sample("rival", asked(0.5), 0.5, 5.0);
    EXPECT_EQ(better(open).verdict, ClaimVerdict::not_run);
    MadeUp equal;  // near enough
    equal.sample("lte", asked(0.5), 0.49, 4.0).sample("rival", asked(0.5), 0.5, 5.0);
    EXPECT_EQ(better(equal).verdict, ClaimVerdict::supported);
}

TEST(LteEqualSparsityChecks, HoldsOnlyIfItHoldsInEachModel) {
    MadeUp made;
    made.sample("lte", asked(0.5), 0.5, 4.0).sample("rival", asked(0.5), 0.5, 5.0);
    EXPECT_EQ(better(made).verdict, ClaimVerdict::supported);
    made.sample("lte", asked(0.5, "llama-toy"), 0.5, 5.1);
    made.sample("rival", asked(0.5, "llama-toy"), 0.5, 5.0);
    const ClaimCheck result = better(made);
    EXPECT_EQ(result.verdict, ClaimVerdict::contradicted);
    EXPECT_NEAR(*result.obtained, 5.1 / 5.0, 1e-9);
    EXPECT_THAT(result.reason, HasSubstr("llama-toy"));
}

TEST(LteEqualSparsityChecks, SeedsAreComparedWithThemselves) {
    // Seed 2 starts from a worse dense model; pooling would let LTE's seed 2 lose to rival's 1.
    MadeUp made;
    for (const auto& [seed, scale] : {std::pair{1, 1.0}, {2, 3.0}, {3, 1.0}}) {
        made.sample("lte", asked(0.5), 0.5, 4.0 * scale, static_cast<std::uint64_t>(seed));
        made.sample("rival", asked(0.5), 0.5, 5.0 * scale, static_cast<std::uint64_t>(seed));
    }
    EXPECT_EQ(better(made).verdict, ClaimVerdict::supported);
    EXPECT_NEAR(*better(made).obtained, 0.8, 1e-9);
    MadeUp strangers;
    strangers.sample("lte", asked(0.5), 0.5, 4.0, 1).sample("rival", asked(0.5), 0.5, 5.0, 2);
    EXPECT_EQ(better(strangers).verdict, ClaimVerdict::not_run);
}

// Ratios of 0.9 to 1.1 over seeds: the mean of the logarithms is below 0, its interval is not.
TEST(LteEqualSparsityChecks, AnIntervalThatSpansTheMarginIsNoVerdict) {
    MadeUp made;
    for (const auto& [seed, ratio] : {std::pair{1, 0.9}, {2, 1.08}, {3, 0.95}}) {
        made.sample("lte", asked(0.5), 0.5, 5.0 * ratio, static_cast<std::uint64_t>(seed));
        made.sample("rival", asked(0.5), 0.5, 5.0, static_cast<std::uint64_t>(seed));
    }
    const ClaimCheck result = better(made);
    EXPECT_EQ(result.verdict, ClaimVerdict::open_discrepancy);
    EXPECT_THAT(result.reason, HasSubstr("interval spans the margin"));
    EXPECT_THAT(result.reason, HasSubstr("3 seeds in pairs"));
    EXPECT_NEAR(*result.obtained, std::cbrt(0.9 * 1.08 * 0.95), 1e-9);
    Claim claim = made_up_claim("perplexity", "lte", "rival");
    claim.relative = 0.02;
    EXPECT_EQ(alike_at_equal_sparsity(claim, made.all()).verdict, ClaimVerdict::open_discrepancy);
    EXPECT_EQ(no_better_at_equal_sparsity(claim, made.all()).verdict,
              ClaimVerdict::open_discrepancy);
    claim.relative = 0.5;  // a margin that the interval is within
    EXPECT_EQ(alike_at_equal_sparsity(claim, made.all()).verdict, ClaimVerdict::supported);
}

TEST(LteEqualSparsityChecks, OneSeedIsNoVerdict) {
    MadeUp made;
    made.sample("lte", asked(0.5), 0.5, 4.0, 1).sample("rival", asked(0.5), 0.5, 5.0, 1);
    EXPECT_EQ(better(made).verdict, ClaimVerdict::not_run);
    EXPECT_THAT(better(made).reason, HasSubstr("two seeds"));
    // The same seed a second time is no other one.
    made.sample("lte", asked(0.5), 0.5, 4.1, 1).sample("rival", asked(0.5), 0.5, 5.1, 1);
    EXPECT_EQ(better(made).verdict, ClaimVerdict::not_run);
}

TEST(LteEqualSparsityChecks, SidesMayDifferByAnAxis) {
    MadeUp made;
    for (const auto& [lambda, perplexity] : {std::pair{0.0, 6.0}, {0.5, 5.0}, {1.0, 5.05}})
        made.sample("lte", {{"sparsity", 0.5}, {"lambda", lambda}}, 0.5, perplexity);
    Claim claim = made_up_claim("perplexity", "lte", "lte");
    claim.of.where = {{"lambda", 0.5}};
    claim.over->where = {{"lambda", 0.0}};
    EXPECT_EQ(better(made, claim).verdict, ClaimVerdict::supported);
    claim.of.where = {{"lambda", 1.0}};
    claim.over->where = {{"lambda", 0.5}};
    EXPECT_EQ(better(made, claim).verdict, ClaimVerdict::contradicted);
    EXPECT_EQ(no_better_at_equal_sparsity(claim, made.all()).verdict, ClaimVerdict::supported);
}

TEST(LteEqualSparsityChecks, AlikeWithinTheTolerance) {
    Claim claim = made_up_claim("perplexity", "lte", "rival");
    claim.relative = 0.02;
    for (const auto& [perplexity, verdict] : {std::pair{5.09, ClaimVerdict::supported},
                                              {4.91, ClaimVerdict::supported},
                                              {5.11, ClaimVerdict::contradicted},
                                              {4.85, ClaimVerdict::contradicted}}) {
        MadeUp made;
        made.sample("lte", asked(0.5), 0.5, perplexity).sample("rival", asked(0.5), 0.5, 5.0);
        EXPECT_EQ(alike_at_equal_sparsity(claim, made.all()).verdict, verdict) << perplexity;
    }
    MadeUp worse;
    worse.sample("lte", asked(0.5), 0.5, 4.8).sample("rival", asked(0.5), 0.5, 5.0);
    EXPECT_EQ(no_better_at_equal_sparsity(claim, worse.all()).verdict, ClaimVerdict::contradicted);
}

// The rival leaves out more and saves less: at equal latency it is the worse one.
TEST(LteEqualLatencyChecks, WhatIsLeftOutDoesNotCountButWhatIsSaved) {
    MadeUp made;
    const auto add = [&](const char* variant, double sparsity, double saved, double perplexity) {
        for (const std::uint64_t seed : {1, 2, 3}) {
            made.value(variant, asked(0.5), "latency_saved", {}, saved, seed);
            made.sample(variant, asked(0.5), sparsity, seed == 2 ? 1.1 * perplexity : perplexity,
                        seed);
        }
    };
    add("lte", 0.4, 0.3, 5.0);
    add("rival", 0.6, 0.2, 5.5);
    const Claim claim = made_up_claim("perplexity", "lte", "rival");
    EXPECT_EQ(better_at_equal_sparsity(claim, made.all()).verdict, ClaimVerdict::not_run);
    EXPECT_EQ(better_at_equal_latency(claim, made.all()).verdict, ClaimVerdict::supported);
}

}  // namespace
}  // namespace assay::lte
