// A few schedules with real processes keep every rule, and a driver that breaks one is found out.
#include "impls/decode/campaign/schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>

namespace assay::decode {
namespace {

TEST(LiveSchedule, KeepsEveryRule) {
    for (const std::uint64_t seed : {6, 9}) {  // a kill, a corruption
        const auto outcome = run_live_schedule(seed);
        EXPECT_TRUE(outcome.ok) << "seed " << seed << ": " << outcome.why << "; " << outcome.says;
        EXPECT_GT(outcome.counts.at("tokens"), 0);
    }
}

/// What strikes when is the machine's business, so one of a few will do.
bool finds_out(Misdeed misdeed, std::initializer_list<std::uint64_t> seeds) {
    return std::any_of(seeds.begin(), seeds.end(),
                       [&](std::uint64_t seed) { return !run_live_schedule(seed, misdeed).ok; });
}

TEST(LiveSchedule, MisdeedsAreFoundOut) {
    EXPECT_TRUE(finds_out(Misdeed::forgets_a_token, {4, 16, 2, 5}));       // kills and hangs
    EXPECT_TRUE(finds_out(Misdeed::keeps_the_cache, {9, 16, 14, 6}));      // new weights
    EXPECT_TRUE(finds_out(Misdeed::believes_corruption, {9, 16, 5, 12}));  // moves
}

}  // namespace
}  // namespace assay::decode
