// Hundreds of schedules keep every rule, and a controller that breaks one is found out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <vector>

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

/// Of all actions of a kind.
template <class A>
Tampering with(void (*change)(A&)) {
    return [change](std::vector<Action>& actions) {
        for (Action& action : actions)
            if (auto* const one = std::get_if<A>(&action)) change(*one);
    };
}

TEST(HetermoeCampaign, AForgottenMoveIsFoundOut) {
    EXPECT_GT(broken(with<Reconfigure>([](Reconfigure& plan) {
                  if (!plan.moves.empty()) plan.moves.pop_back();
              })),
              20);
}

TEST(HetermoeCampaign, AStepThatIsSkippedIsFoundOut) {
    EXPECT_GT(broken(with<Go>([](Go& go) {
                  if (go.step == 3) ++go.step;
              })),
              50);
}

TEST(HetermoeCampaign, AnOlderCheckpointThanTheOneNamedIsFoundOut) {
    EXPECT_GT(broken(with<Reconfigure>([](Reconfigure& plan) {
                  if (plan.restore_step && *plan.restore_step > 0) plan.restore_step = 0;
              })),
              3);
}

/// At each Abort, which comes when time is up or a rank is dead, another commit follows it.
template <class M>
Tampering commits_at_an_abort() {
    return [last = std::optional<M>()](std::vector<Action>& actions) mutable {
        for (std::size_t i = 0; i < actions.size(); ++i) {
            if (std::holds_alternative<Reconfigure>(actions[i])) last.reset();
            if (const auto* const one = std::get_if<M>(&actions[i])) last = *one;
            if (last && std::holds_alternative<Abort>(actions[i]))
                actions.insert(actions.begin() + static_cast<std::ptrdiff_t>(++i),
                               Commit{last->epoch, last->step});
        }
    };
}

TEST(HetermoeCampaign, ACommitOfAStepThatTimedOutIsFoundOut) {
    EXPECT_GT(broken(commits_at_an_abort<Go>()), 30);
}

// Only those who are to apply it notice that.
TEST(HetermoeCampaign, ACommitThatIsSentAgainIsFoundOut) {
    EXPECT_GT(broken(commits_at_an_abort<Commit>()), 20);
}

}  // namespace
}  // namespace assay::hetermoe
