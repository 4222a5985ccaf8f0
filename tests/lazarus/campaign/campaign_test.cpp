// Hundreds of seeded schedules of joins, leaves, hangs and deaths on the controller in virtual
// time. A failing seed is printed; ASSAY_CAMPAIGN_SEEDS=FIRST-LAST runs others than the usual ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "impls/lazarus/campaign/virtual_world.hpp"

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
        VirtualWorld world(draw_schedule(seed));
        world.run();
        EXPECT_EQ(world.failure(), "") << "schedule of seed " << seed;
    }
}

TEST(LazarusCampaign, SameEventsGiveSameActions) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        const Schedule schedule = draw_schedule(seed);
        VirtualWorld world(schedule);
        world.run();
        ASSERT_FALSE(world.record().empty());
        EXPECT_EQ(drive::first_difference(Controller(schedule.job), world.record()), std::nullopt)
            << "seed " << seed;
    }
}

/// The number of schedules of 1 … 200 in which the watch objects to a controller with other
/// settings.
template <class Change>
int objections(Change change) {
    int objections = 0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        const Schedule schedule = draw_schedule(seed);
        ControllerConfig other = schedule.job;
        change(other);
        VirtualWorld world(schedule, other);
        world.run();
        objections += !world.failure().empty();
    }
    return objections;
}

TEST(LazarusCampaign, TheWatchObjectsToAControllerThatKeepsToOtherRules) {
    EXPECT_EQ(objections([](ControllerConfig&) {}), 0);
    EXPECT_GT(objections([](ControllerConfig& job) {
                  const bool peers = job.recovery == Recovery::peers;
                  job.recovery = peers ? Recovery::restart : Recovery::peers;
              }),
              50);
    EXPECT_GT(objections([](ControllerConfig& job) { job.wait_for_nodes = false; }), 0);
    EXPECT_GT(objections([](ControllerConfig& job) { job.join_wait_s += 1e6; }), 5);
    EXPECT_GT(objections([](ControllerConfig& job) { job.most_retries = 0; }), 5);
    EXPECT_GT(objections([](ControllerConfig& job) {
                  if (job.layout == Layout::groups) job.layout = Layout::flexible;
              }),
              10);
}

// The campaign is worth something only if its schedules reach what they are meant to test.
TEST(LazarusCampaign, SchedulesReachEveryKindOfTrouble) {
    std::array<long, kMoments> strikes{};
    Controller::Counts sum;
    std::map<std::string, long> faults;
    int ok = 0, gave_up = 0;
    for (std::uint64_t seed = 1; seed <= 600; ++seed) {
        VirtualWorld world(draw_schedule(seed));
        world.run();
        for (std::size_t i = 0; i < kMoments; ++i) strikes[i] += world.strikes()[i];
        ++(world.finished_ok() ? ok : gave_up);
        const auto& counts = world.controller().counts();
        for (const auto& [kind, times] : world.faults()) faults[kind] += times;
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
    for (const char* kind :
         {"kill", "hang", "short_hang", "leave", "nan", "corrupt_message", "cut_link",
          "slow_worker", "slow_link", "torn_checkpoint", "disk_full", "wait"})
        EXPECT_GE(faults[kind], 20) << kind;
    std::printf(
        "%d schedules finished, %d gave up rightly; %ld deaths, %ld discarded steps, %ld "
        "reconfigurations, %ld transfers, %ld leaves, %ld fallbacks (%ld steps undone)\n",
        ok, gave_up, sum.deaths, sum.discarded, sum.reconfigurations, sum.transfers, sum.leaves,
        sum.fallbacks, sum.rolled_back);
}

}  // namespace
}  // namespace assay::lazarus::campaign
