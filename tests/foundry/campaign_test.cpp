// Seeded schedules of faults on the loader, in virtual time; and that mistakes made on purpose are
// found.
#include <gtest/gtest.h>

#include <map>

#include "impls/foundry/campaign/virtual_schedule.hpp"

namespace assay::foundry {
namespace {

TEST(FoundryCampaign, EachRequestIsServedOnceWithACapturesResult) {
    std::map<std::string, long> counts;
    for (std::uint64_t seed = 1; seed <= 500; ++seed) {
        const drive::SeedOutcome outcome = run_virtual_schedule(seed);
        EXPECT_TRUE(outcome.ok) << "seed " << seed << ": " << outcome.why << "\n" << outcome.says;
        for (const auto& [name, count] : outcome.counts) counts[name] += count;
    }
    // What the schedules are there for did happen.
    for (const char* happened : {"restarts", "fault.struck", "refused", "unfit", "update", "own",
                                 "build", "capture", "plain", "nothing"})
        EXPECT_GT(counts[happened], 10) << happened;
}

TEST(FoundryCampaign, TheSameSeedIsTheSameCourse) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed)
        EXPECT_EQ(run_virtual_schedule(seed), run_virtual_schedule(seed)) << seed;
}

TEST(FoundryCampaign, MistakesAreFound) {
    for (const auto& [misdeed, word] : names_of(Misdeed())) {
        if (misdeed == Misdeed::none) continue;
        long found = 0;
        for (std::uint64_t seed = 1; seed <= 300; ++seed)
            found += !run_virtual_schedule(seed, misdeed).ok;
        EXPECT_GT(found, 3) << word;
    }
}

}  // namespace
}  // namespace assay::foundry
