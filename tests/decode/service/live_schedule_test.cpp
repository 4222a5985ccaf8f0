// A few schedules with real processes keep every rule, and a driver that breaks one is found out.
#include "impls/decode/campaign/live_schedule.hpp"

#include <gtest/gtest.h>

#include "suite/drive/campaign/run_campaign.hpp"

namespace assay::decode {
namespace {

TEST(LiveSchedule, KeepsEveryRule) {
    for (const std::uint64_t seed : {5, 8}) {  // a kill, a corruption
        const auto outcome = run_live_schedule(seed);
        EXPECT_TRUE(outcome.ok) << "seed " << seed << ": " << outcome.why << "; " << outcome.says;
        EXPECT_GT(outcome.counts.at("tokens"), 0);
    }
}

TEST(LiveSchedule, MisdeedsAreFoundOut) {
    EXPECT_FALSE(run_live_schedule(5, Misdeed::forgets_a_token).ok);
}

}  // namespace
}  // namespace assay::decode
