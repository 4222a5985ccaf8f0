// Checks over several cases: the mean, the ends, and where a ratio is largest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(HetermoeClaimChecks, SayNothingWhereAnEndIsMissing) {
    std::vector<Observation> half = observations();
    std::erase_if(half, [](const Observation& one) {
        return one.axes.at("batch") == Value{std::int64_t{8}};
    });
    EXPECT_EQ(claim_checks().at("average")(claim_of(2, 1), half).verdict, ClaimVerdict::not_run);
}

}  // namespace
}  // namespace assay::hetermoe
