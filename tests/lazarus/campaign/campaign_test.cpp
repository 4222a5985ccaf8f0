// Hundreds of seeded schedules of joins, leaves, hangs and deaths on the controller in virtual
// time, and what the watch says of controllers that keep to other rules. A failing seed is printed;
// ASSAY_CAMPAIGN_SEEDS=FIRST-LAST runs others than the usual ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "impls/lazarus/campaign/virtual_run.hpp"
#include "impls/lazarus/watch/watch_decisions.hpp"

namespace assay::lazarus::campaign {
namespace {

struct Seeds {
    std::uint64_t first = 1, last = 600;
};

Seeds seeds() {
    Seeds seeds;
    if (const char* text = std::getenv("ASSAY_CAMPAIGN_SEEDS")) {
        unsigned long first = 0, last = 0;
        if (std::sscanf(text, "%lu-%lu", &first, &last) == 2) seeds = {first, last};
    }
    return seeds;
}

TEST(LazarusCampaign, EveryScheduleKeepsEveryRule) {
    const auto [first, last] = seeds();
    for (std::uint64_t seed = first; seed <= last; ++seed) {
        VirtualRun run(draw_schedule(seed));
        run.run();
        EXPECT_EQ(run.failure(), "") << "schedule of seed " << seed;
    }
}

TEST(LazarusCampaign, TheSameSeedGivesTheSameRun) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        VirtualRun run(draw_schedule(seed)), again(draw_schedule(seed));
        run.run();
        again.run();
        ASSERT_EQ(run.record().size(), again.record().size()) << "seed " << seed;
        for (std::size_t i = 0; i < run.record().size(); ++i) {
            ASSERT_EQ(run.record()[i].event, again.record()[i].event) << "seed " << seed;
            ASSERT_EQ(run.record()[i].now_s, again.record()[i].now_s) << "seed " << seed;
        }
    }
}

TEST(LazarusCampaign, SameEventsGiveSameActionsAndKeepTheRulesWithoutWorkers) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        const Schedule schedule = draw_schedule(seed);
        VirtualRun run(schedule);
        run.run();
        ASSERT_FALSE(run.record().empty());
        EXPECT_EQ(drive::first_difference(Controller(schedule.job), run.record()), std::nullopt)
            << "seed " << seed;
        EXPECT_EQ(watch_decisions(schedule.job, run.record()), std::vector<std::string>())
            << "seed " << seed;
    }
}

// What is no true recording of a controller that keeps to the rules is found out.
TEST(LazarusCampaign, ARecordingThatWasTamperedWithIsFoundOut) {
    const Schedule schedule = draw_schedule(3);
    VirtualRun run(schedule);
    run.run();
    auto record = run.record();
    const auto commit = std::find_if(record.begin(), record.end(), [](const auto& decision) {
        return !decision.actions.empty() &&
               std::holds_alternative<Commit>(decision.actions.front());
    });
    ASSERT_NE(commit, record.end());
    std::get<Commit>(commit->actions.front()).step += 1;
    const auto failures = watch_decisions(schedule.job, record);
    ASSERT_GE(failures.size(), 2U);
    EXPECT_EQ(failures[0], "decision " + std::to_string(commit - record.begin()) +
                               ": the controller decides otherwise now");
    EXPECT_EQ(failures[1], "step 1 commits in place of 0");
}

// Faults are such as a user could have written.
TEST(LazarusCampaign, FaultPlansReadBackAsTheyWere) {
    std::map<FaultKind, int> kinds;
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        const FaultPlan plan = draw_schedule(seed).faults;
        EXPECT_EQ(parse_fault_plan(to_string(plan)), plan) << "seed " << seed;
        for (const Fault& fault : plan.faults) ++kinds[fault.kind];
    }
    for (FaultKind kind : {FaultKind::kill, FaultKind::hang, FaultKind::stop, FaultKind::join,
                           FaultKind::slow, FaultKind::link})
        EXPECT_GE(kinds[kind], 50) << to_string(kind);
}

/// A controller that keeps to other rules, and in how many schedules of 1 … 200 at least that is
/// found by the rules of any training (impls/elastic/watch.hpp), or by Lazarus' own alone.
struct Mistake {
    const char* name;
    void (*change)(ControllerConfig&);
    int any = 0, own = 0;  ///< 0: none at all
};

class LazarusMistakes : public testing::TestWithParam<Mistake> {};

TEST_P(LazarusMistakes, AreFoundOut) {
    int any = 0, own = 0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        const Schedule schedule = draw_schedule(seed);
        ControllerConfig other = schedule.job;
        GetParam().change(other);
        VirtualRun run(schedule, other);
        run.run();
        if (run.failure().empty()) {
            // Of what it does not object to, a recording says no more.
            EXPECT_EQ(watch_decisions(schedule.job, run.record()).size(),
                      drive::first_difference(Controller(schedule.job), run.record()) ? 1U : 0U)
                << "seed " << seed;
            continue;
        }
        const auto by_any = elastic::watch_decisions(
            Controller(other), elastic::Watch({.steps = schedule.job.steps}), run.record());
        ++(by_any.empty() ? own : any);
    }
    for (const auto& [found, wanted] : {std::pair(any, GetParam().any), {own, GetParam().own}})
        EXPECT_TRUE(wanted > 0 ? found >= wanted : found == 0) << any << ", " << own;
}

INSTANTIATE_TEST_SUITE_P(
    Table, LazarusMistakes,
    testing::Values(Mistake{.name = "None", .change = [](ControllerConfig&) {}},
                    Mistake{.name = "OneStepMore",
                            .change = [](ControllerConfig& job) { ++job.steps; },
                            .any = 100,
                            .own = 1},
                    Mistake{.name = "RecoverySwapped",
                            .change =
                                [](ControllerConfig& job) {
                                    const bool peers = job.recovery == Recovery::peers;
                                    job.recovery = peers ? Recovery::restart : Recovery::peers;
                                },
                            .own = 50},
                    Mistake{.name = "NotWaiting",
                            .change = [](ControllerConfig& job) { job.wait_for_nodes = false; },
                            .own = 1},
                    Mistake{.name = "JoinWait",
                            .change = [](ControllerConfig& job) { job.join_wait_s += 1e6; },
                            .own = 5},
                    Mistake{.name = "NoRetries",
                            .change = [](ControllerConfig& job) { job.most_retries = 0; },
                            .own = 5},
                    Mistake{.name = "NoGroups",
                            .change =
                                [](ControllerConfig& job) {
                                    if (job.layout == Layout::groups) job.layout = Layout::flexible;
                                },
                            .own = 10}),
    [](const auto& info) { return info.param.name; });

// The campaign is worth something only if its schedules reach what they are meant to test.
TEST(LazarusCampaign, SchedulesReachEveryKindOfTrouble) {
    std::array<long, kMoments> strikes{};
    Controller::Counts sum;
    std::map<std::string, long> faults;
    int ok = 0, gave_up = 0;
    long waits_ended = 0;
    for (std::uint64_t seed = 1; seed <= 600; ++seed) {
        VirtualRun run(draw_schedule(seed));
        run.run();
        for (std::size_t i = 0; i < kMoments; ++i) strikes[i] += run.trouble().strikes()[i];
        ++(run.finished_ok() ? ok : gave_up);
        const auto& counts = run.controller().counts();
        for (const auto& [kind, times] : run.trouble().faults()) faults[kind] += times;
        waits_ended += run.waits();
        sum.retries += counts.retries;
        sum.evictions += counts.evictions;
        sum.bad_checkpoints += counts.bad_checkpoints;
        sum.waits += counts.waits;
        sum.planned_restarts += counts.planned_restarts;
        sum.discarded += counts.discarded;
        sum.fallbacks += counts.fallbacks;
        sum.rolled_back += counts.rolled_back;
        sum.leaves += counts.leaves;
        sum.transfers += counts.transfers;
        sum.deaths += counts.deaths;
        sum.rebalances += counts.rebalances;
        sum.reconfigurations += counts.reconfigurations;
    }
    for (std::size_t i = 0; i < kMoments; ++i) EXPECT_GE(strikes[i], 10) << "moment " << i;
    EXPECT_GE(ok, 300);
    EXPECT_GE(gave_up, 20);
    EXPECT_GE(sum.discarded, 200);
    EXPECT_GE(sum.fallbacks, 50);
    EXPECT_GE(sum.rolled_back, 100);
    EXPECT_GE(sum.leaves, 50);
    EXPECT_GE(sum.rebalances, 200);
    EXPECT_GE(sum.retries, 100);
    EXPECT_GE(sum.evictions, 50);
    EXPECT_GE(sum.bad_checkpoints, 20);
    EXPECT_GE(sum.waits, 20);
    EXPECT_GE(sum.planned_restarts, 20);
    EXPECT_GE(waits_ended, 20);
    for (const char* kind : {"kill", "hang", "short_hang", "stop", "join", "slow", "link", "nan",
                             "corrupt", "corrupt_tensor", "broken", "stuck", "torn", "disk_full"})
        EXPECT_GE(faults[kind], 20) << kind;
    std::printf(
        "%d schedules finished, %d gave up rightly; %ld deaths, %ld discarded steps, %ld "
        "reconfigurations, %ld transfers, %ld leaves, %ld fallbacks (%ld steps undone)\n",
        ok, gave_up, sum.deaths, sum.discarded, sum.reconfigurations, sum.transfers, sum.leaves,
        sum.fallbacks, sum.rolled_back);
}

}  // namespace
}  // namespace assay::lazarus::campaign
