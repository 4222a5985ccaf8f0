// Hundreds of schedules keep every rule, and a controller that breaks one is found out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "impls/hetermoe/campaign/virtual_schedule.hpp"

namespace assay::hetermoe {
namespace {

TEST(HetermoeCampaign, EveryScheduleKeepsEveryRule) {
    std::map<std::string, long> counts;
    for (std::uint64_t seed = 1; seed <= 500; ++seed) {
        const auto outcome = run_virtual_schedule(seed);
        EXPECT_TRUE(outcome.ok) << "seed " << seed << ": " << outcome.why << "; " << outcome.says;
        for (const auto& [name, count] : outcome.counts) counts[name] += count;
    }
    EXPECT_GT(counts["commits"], 2500);
    EXPECT_GT(counts["finished"], 250);
    for (const char* fault :
         {"kill", "hang", "stop", "join", "corrupt", "nan", "torn", "slow", "profiled"})
        EXPECT_GT(counts[std::string("fault.") + fault], 20) << fault;
    EXPECT_GT(counts["fallbacks"], 50);
    EXPECT_GT(counts["moves"], 500);
    EXPECT_GT(counts["evictions"], 20);
}

TEST(HetermoeCampaign, AnEqualSeedIsTheSameSchedule) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed)
        EXPECT_EQ(run_virtual_schedule(seed), run_virtual_schedule(seed));
}

long broken(const Tampering& tampering) {
    long count = 0;
    for (std::uint64_t seed = 1; seed <= 100; ++seed)
        count += run_virtual_schedule(seed, tampering).ok ? 0 : 1;
    return count;
}

TEST(HetermoeCampaign, AForgottenMoveIsFoundOut) {
    EXPECT_GT(broken([](Action& action) {
                  auto* form = std::get_if<Reconfigure>(&action);
                  if (form && !form->moves.empty()) form->moves.pop_back();
              }),
              20);
}

TEST(HetermoeCampaign, AStepThatIsSkippedIsFoundOut) {
    EXPECT_GT(broken([](Action& action) {
                  auto* go = std::get_if<Go>(&action);
                  if (go && go->step == 3) ++go->step;
              }),
              50);
}

TEST(HetermoeCampaign, AnOlderCheckpointThanTheOneNamedIsFoundOut) {
    EXPECT_GT(broken([](Action& action) {
                  auto* form = std::get_if<Reconfigure>(&action);
                  if (form && form->restore_step && *form->restore_step > 0) form->restore_step = 0;
              }),
              3);
}

}  // namespace
}  // namespace assay::hetermoe
