#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "impls/lte/claims/claim_checks.hpp"
#include "tests/lte/claims/observations.hpp"

namespace assay::lte {
namespace {

using testing::HasSubstr;

/// Shares near the threshold without and with separability, by seed.
ClaimCheck away(const std::vector<double>& without, const std::vector<double>& with,
                double value = 2, const Case& at = {}) {
    MadeUp made;
    const auto add = [&](const std::vector<double>& values, double lambda) {
        Case axes = at;
        axes["lambda"] = lambda;
        for (std::size_t seed = 0; seed < values.size(); ++seed)
            made.value("lte", axes, "near_threshold", {}, values[seed], seed + 1);
    };
    add(without, 0.0);
    add(with, 0.5);
    Claim claim = made_up_claim("near_threshold", "", "");
    claim.of.where = {{"lambda", 0.0}};
    claim.over = Selector{"", {{"lambda", 0.5}}};
    claim.value = value;
    return clearly_greater(claim, made.all());
}

TEST(LteClearlyGreater, HoldsWhereTheWholeIntervalDoes) {
    EXPECT_EQ(away({0.3, 0.32, 0.29}, {0.01, 0.012, 0.008}).verdict, ClaimVerdict::supported);
    EXPECT_EQ(away({0.3, 0.32, 0.29}, {0, 0, 0}).verdict, ClaimVerdict::supported);
    EXPECT_EQ(away({0.1, 0.11, 0.1}, {0.1, 0.1, 0.11}).verdict, ClaimVerdict::contradicted);
    const auto spans = away({0.3, 0.1, 0.2}, {0.08, 0.08, 0.08});
    EXPECT_EQ(spans.verdict, ClaimVerdict::open_discrepancy);
    EXPECT_THAT(spans.reason, HasSubstr("interval spans the margin"));
    EXPECT_NEAR(*spans.obtained, 2.5, 1e-9);
}

TEST(LteClearlyGreater, IsPairedBySeed) {
    // Seeds differ by more than the sides do, which differ alike in each.
    EXPECT_EQ(away({1.1, 5.1, 9.1}, {1, 5, 9}, 1).verdict, ClaimVerdict::supported);
    EXPECT_EQ(away({9.1, 1.1, 5.1}, {1, 5, 9}, 1).verdict, ClaimVerdict::open_discrepancy);
}

TEST(LteClearlyGreater, ACaseThatFailsCountsBeforeOneThatIsOpen) {
    MadeUp made;
    const auto add = [&](const char* corpus, double lambda, const std::vector<double>& values) {
        for (std::size_t seed = 0; seed < values.size(); ++seed)
            made.value("lte", {{"corpus", std::string(corpus)}, {"lambda", lambda}},
                       "near_threshold", {}, values[seed], seed + 1);
    };
    add("open", 0.0, {1, 30, 12});
    add("open", 0.5, {10, 10, 10});
    add("fails", 0.0, {1, 1.1, 0.9});
    add("fails", 0.5, {3, 3.1, 2.9});
    Claim claim = made_up_claim("near_threshold", "", "");
    claim.of.where = {{"lambda", 0.0}};
    claim.over = Selector{"", {{"lambda", 0.5}}};
    const auto check = clearly_greater(claim, made.all());
    EXPECT_EQ(check.verdict, ClaimVerdict::contradicted) << check.reason;
}

TEST(LteClearlyGreater, OneSeedIsNoVerdict) {
    EXPECT_EQ(away({0.3}, {0.01}).verdict, ClaimVerdict::not_run);
    EXPECT_EQ(away({0.3, 0.3}, {}).verdict, ClaimVerdict::not_run);
}

/// A metric of three seeds against a bound.
ClaimCheck bounded(ClaimCheck (*check)(const Claim&, std::span<const Observation>), double value,
                   const std::vector<double>& values) {
    MadeUp made;
    for (std::size_t seed = 0; seed < values.size(); ++seed)
        made.value("lte", {{"sparsity", 0.5}}, "read_share", {}, values[seed], seed + 1);
    Claim claim = made_up_claim("read_share", "lte");
    claim.value = value;
    return check(claim, made.all());
}

TEST(LteClearlyBounded, HoldsWhereTheWholeIntervalDoes) {
    const std::vector<double> around{0.84, 0.85, 0.86};
    EXPECT_EQ(bounded(clearly_at_least, 0.8, around).verdict, ClaimVerdict::supported);
    EXPECT_EQ(bounded(clearly_at_most, 0.9, around).verdict, ClaimVerdict::supported);
    EXPECT_EQ(bounded(clearly_at_least, 0.9, around).verdict, ClaimVerdict::contradicted);
    EXPECT_EQ(bounded(clearly_at_most, 0.8, around).verdict, ClaimVerdict::contradicted);
    for (auto* const check : {clearly_at_least, clearly_at_most}) {
        const auto spans = bounded(check, 0.852, around);
        EXPECT_EQ(spans.verdict, ClaimVerdict::open_discrepancy);
        EXPECT_THAT(spans.reason, HasSubstr("interval spans the margin"));
        EXPECT_NEAR(*spans.obtained, 0.85, 1e-9);
        EXPECT_THAT(spans.reason, HasSubstr("0.85 (0.8252 to 0.8748"));
        EXPECT_EQ(bounded(check, 0.8, {0.85}).verdict, ClaimVerdict::not_run);
    }
}

TEST(LteClearlyBounded, ACaseThatFailsCountsBeforeANoisierOne) {
    MadeUp made;
    const auto add = [&](const char* corpus, const std::vector<double>& values) {
        for (std::size_t seed = 0; seed < values.size(); ++seed)
            made.value("lte", {{"corpus", std::string(corpus)}}, "read_share", {}, values[seed],
                       seed + 1);
    };
    add("fails", {0.9, 0.91, 0.92});
    add("open", {0.1, 1.5, 0.4});
    Claim claim = made_up_claim("read_share", "lte");
    claim.value = 0.8;
    const auto check = clearly_at_most(claim, made.all());
    EXPECT_EQ(check.verdict, ClaimVerdict::contradicted) << check.reason;
    EXPECT_NEAR(*check.obtained, 0.91, 1e-9);
    claim.value = 1;
    EXPECT_EQ(clearly_at_least(claim, made.all()).verdict, ClaimVerdict::contradicted);
    EXPECT_EQ(clearly_at_most(claim, made.all()).verdict, ClaimVerdict::open_discrepancy);
}

/// Pauses of two sides by seed, each against the other of its seed.
ClaimCheck ratio_at_most(double value, const std::vector<double>& of,
                         const std::vector<double>& over) {
    MadeUp made;
    const auto add = [&](const char* variant, const std::vector<double>& values) {
        for (std::size_t seed = 0; seed < values.size(); ++seed)
            made.value(variant, {{"size", 16.0}}, "pause_s", {}, values[seed], seed + 1);
    };
    add("beside", of);
    add("stopped", over);
    Claim claim = made_up_claim("pause_s", "beside");
    claim.over = Selector{"stopped", {}};
    claim.value = value;
    return claims::clearly_at_most(claim, made.all());
}

TEST(ClearlyBoundedRatio, IsTakenSeedBySeed) {
    // Machines differ by ten times, the ratio does not.
    const auto check = ratio_at_most(0.5, {0.4, 4.1, 39}, {1, 10, 100});
    EXPECT_EQ(check.verdict, ClaimVerdict::supported) << check.reason;
    EXPECT_NEAR(*check.obtained, 0.4, 1e-9);
    EXPECT_EQ(ratio_at_most(0.3, {0.4, 4.1, 39}, {1, 10, 100}).verdict, ClaimVerdict::contradicted);
    EXPECT_EQ(ratio_at_most(0.5, {0.2, 6, 30}, {1, 10, 100}).verdict,
              ClaimVerdict::open_discrepancy);
    // A seed of one side alone is no pair, and nothing is no side.
    EXPECT_EQ(ratio_at_most(0.5, {0.4, 4.1}, {1}).verdict, ClaimVerdict::not_run);
    EXPECT_EQ(ratio_at_most(0.5, {0.4, 4.1}, {0, 0}).verdict, ClaimVerdict::not_run);
    EXPECT_EQ(ratio_at_most(0.5, {0.4, 4.1}, {}).verdict, ClaimVerdict::not_run);
}

/// Speeds by share of the prompt, of each seed.
ClaimCheck rises(const std::map<double, std::vector<double>>& by_share) {
    MadeUp made;
    for (const auto& [share, values] : by_share)
        for (std::size_t seed = 0; seed < values.size(); ++seed)
            made.value("tree", {{"share", share}}, "speedup", {}, values[seed], seed + 1);
    Claim claim = made_up_claim("speedup", "tree");
    claim.along = "share";
    return claims::clearly_increasing(claim, made.all());
}

TEST(ClearlyIncreasing, EveryStepDoes) {
    EXPECT_EQ(rises({{0, {1, 2, 3}}, {0.5, {1.5, 2.6, 3.5}}, {1, {2, 3, 4}}}).verdict,
              ClaimVerdict::supported);
    const auto spans = rises({{0, {1, 2, 3}}, {0.5, {1.5, 2.6, 3.5}}, {1, {1.4, 3, 3.6}}});
    EXPECT_EQ(spans.verdict, ClaimVerdict::open_discrepancy);
    EXPECT_THAT(spans.reason, HasSubstr("from share 0.5 to 1"));
    EXPECT_THAT(spans.reason, HasSubstr("interval spans the margin"));
    EXPECT_EQ(rises({{0, {1, 2, 3}}, {0.5, {0.8, 1.7, 2.8}}, {1, {2, 3, 4}}}).verdict,
              ClaimVerdict::contradicted);
    EXPECT_EQ(rises({{0, {1}}, {0.5, {2}}}).verdict, ClaimVerdict::not_run);
    EXPECT_EQ(rises({{0, {1, 2}}}).verdict, ClaimVerdict::not_run);
    EXPECT_EQ(rises({}).verdict, ClaimVerdict::not_run);
}

}  // namespace
}  // namespace assay::lte
