// Hundreds of schedules keep every rule, and a controller that breaks one is found out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
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

/// Of all actions of a kind.
template <class A>
Tampering with(void (*change)(A&)) {
    return [change](std::vector<Action>& actions) {
        for (Action& action : actions)
            if (auto* const one = std::get_if<A>(&action)) change(*one);
    };
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

/// What follows at once on each action of a kind.
template <class A>
Tampering followed_by(Action (*next)(const A&)) {
    return [next](std::vector<Action>& actions) {
        for (std::size_t i = 0; i < actions.size(); ++i)
            if (const auto* const one = std::get_if<A>(&actions[i])) {
                const Action action = next(*one);
                actions.insert(actions.begin() + static_cast<std::ptrdiff_t>(++i), action);
            }
    };
}

// The checks: rules of any training, by what is said (impls/elastic/watch.hpp); and what members
// have, by what is done. Of a hundred schedules, in so many at least, the first that finds it is …
struct Mistake {
    const char* name;
    Tampering tampering;
    int said = 0, done = 0;  ///< 0: none at all
};

std::vector<Mistake> mistakes() {
    return {
        {.name = "a move is forgotten",
         .tampering = with<Reconfigure>([](Reconfigure& plan) {
             if (!plan.moves.empty()) plan.moves.pop_back();
         }),
         .done = 20},
        {.name = "a move comes from another member",
         .tampering = with<Reconfigure>([](Reconfigure& plan) {
             for (Move& move : plan.moves)
                 move.from = move.from == plan.members[0] ? plan.members[1] : plan.members[0];
         }),
         .done = 20},
        {.name = "two ranks swap places",
         .tampering = with<Reconfigure>([](Reconfigure& plan) {
             std::swap(plan.layout.ranks.front(), plan.layout.ranks.back());
         }),
         .done = 50},
        {.name = "a step is skipped",
         .tampering = with<Go>([](Go& go) {
             if (go.step == 3) ++go.step;
         }),
         .said = 50},
        {.name = "an older checkpoint than the one named",
         .tampering = with<Reconfigure>([](Reconfigure& plan) {
             if (plan.restore_step && *plan.restore_step > 0) plan.restore_step = 0;
         }),
         .said = 3},
        {.name = "a step begins before all are ready",
         .tampering = followed_by<Reconfigure>([](const Reconfigure& plan) -> Action {
             return Go{plan.epoch, plan.resume_step};
         }),
         .said = 90},
        {.name = "one is dismissed that has not asked",
         .tampering = followed_by<Commit>([](const Commit&) -> Action { return Dismiss{0}; }),
         .said = 80},
        {.name = "one is evicted that is not suspected",
         .tampering = followed_by<Go>([](const Go&) -> Action {
             return drive::Evict{0, ""};
         }),
         .said = 90},
        {.name = "a commit after time was up", .tampering = commits_at_an_abort<Go>(), .said = 30},
        {.name = "a commit that is sent again",
         .tampering = commits_at_an_abort<Commit>(),
         .said = 20},
    };
}

class HetermoeMistakes : public testing::TestWithParam<Mistake> {};

TEST_P(HetermoeMistakes, AreFoundOut) {
    int said = 0, done = 0;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        const auto outcome = run_virtual_schedule(seed, GetParam().tampering);
        if (outcome.ok) continue;
        ++(outcome.why.find("protocol: ") != std::string::npos ? said : done);
    }
    for (const auto& [found, wanted] : {std::pair(said, GetParam().said), {done, GetParam().done}})
        EXPECT_TRUE(wanted > 0 ? found >= wanted : found == 0) << said << ", " << done;
}

INSTANTIATE_TEST_SUITE_P(Table, HetermoeMistakes, testing::ValuesIn(mistakes()),
                         [](const auto& info) {
                             std::string name = info.param.name;
                             std::replace(name.begin(), name.end(), ' ', '_');
                             return name;
                         });

}  // namespace
}  // namespace assay::hetermoe
