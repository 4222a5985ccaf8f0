// Hundreds of schedules keep every rule, and a worker or driver that breaks one is found out.
#include "impls/dr_post_training/campaign/virtual_schedule.hpp"

#include <gtest/gtest.h>

#include <map>

namespace assay::dr_post_training {
namespace {

TEST(DrCampaign, EveryScheduleKeepsEveryRule) {
    std::map<std::string, long> counts;
    for (std::uint64_t seed = 1; seed <= 500; ++seed) {
        const auto outcome = run_virtual_schedule(seed);
        EXPECT_TRUE(outcome.ok) << "seed " << seed << ": " << outcome.why << "; " << outcome.says;
        for (const auto& [name, count] : outcome.counts) counts[name] += count;
    }
    for (const char* fault : {"kill", "hang", "corrupt", "nan", "disk_full", "torn"})
        EXPECT_GT(counts[std::string("fault.") + fault], 50) << fault;
    for (const char* happened : {"redone", "restored", "restarted", "evicted", "late", "repeated",
                                 "unwritten", "unreadable"})
        EXPECT_GT(counts[happened], 10) << happened;
    EXPECT_GT(counts["finished"], 250);
    EXPECT_GT(counts["failed"], 30);
}

TEST(DrCampaign, AnEqualSeedIsTheSameSchedule) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed)
        EXPECT_EQ(run_virtual_schedule(seed), run_virtual_schedule(seed));
}

TEST(DrCampaign, MisdeedsAreFoundOut) {
    const auto found = [](Misdeed misdeed) {
        int broken = 0;
        for (std::uint64_t seed = 1; seed <= 300; ++seed)
            broken += run_virtual_schedule(seed, misdeed).ok ? 0 : 1;
        return broken;
    };
    EXPECT_EQ(found(Misdeed::none), 0);
    EXPECT_GT(found(Misdeed::ignores_damage), 20);
    EXPECT_GT(found(Misdeed::applies_nan), 20);
    EXPECT_GT(found(Misdeed::stores_repeated), 20);
    EXPECT_GT(found(Misdeed::forgets_a_selection), 20);
    EXPECT_GT(found(Misdeed::believes_the_evicted), 20);
    // A torn state that is believed is refused by the guard, which knows the digest.
    EXPECT_EQ(found(Misdeed::believes_torn), 0);
}

}  // namespace
}  // namespace assay::dr_post_training
