// Hundreds of schedules keep every rule, and a driver that breaks one is found out.
#include <gtest/gtest.h>

#include <map>

#include "impls/decode/campaign/schedule.hpp"

namespace assay::decode {
namespace {

TEST(DecodeCampaign, EveryScheduleKeepsEveryRule) {
    std::map<std::string, long> counts;
    for (std::uint64_t seed = 1; seed <= 500; ++seed) {
        const auto outcome = run_virtual_schedule(seed);
        EXPECT_TRUE(outcome.ok) << "seed " << seed << ": " << outcome.why << "; " << outcome.says;
        for (const auto& [name, count] : outcome.counts) counts[name] += count;
    }
    for (const char* fault : {"kill", "hang", "slow", "corrupt", "nan", "wipe"})
        EXPECT_GT(counts[std::string("fault.") + fault], 20) << fault;
    for (const char* happened :
         {"moved", "moved_with_cache", "refused", "given_up", "failed", "preemptions", "commits",
          "commits_keeping", "kept", "no_blocks", "stopped_by_text"})
        EXPECT_GT(counts[happened], 20) << happened;
    EXPECT_GT(counts["reused"], 1000);
    EXPECT_GT(counts["recomputed"], 5);  // a move while some engines have other weights
}

TEST(DecodeCampaign, AnEqualSeedIsTheSameSchedule) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed)
        EXPECT_EQ(run_virtual_schedule(seed), run_virtual_schedule(seed));
}

TEST(DecodeCampaign, MisdeedsAreFoundOut) {
    for (const Misdeed misdeed :
         {Misdeed::hears_the_lost, Misdeed::keeps_the_cache, Misdeed::believes_corruption,
          Misdeed::forgets_a_token, Misdeed::trusts_any_cache}) {
        long broken = 0;
        for (std::uint64_t seed = 1; seed <= 300; ++seed)
            broken += run_virtual_schedule(seed, misdeed).ok ? 0 : 1;
        EXPECT_GT(broken, 2) << static_cast<int>(misdeed);
    }
}

}  // namespace
}  // namespace assay::decode
