// Real processes are killed, frozen, dismissed and added in the middle of a training. After each
// run: every step was committed, the state equals the fault-free replay bit for bit, every fault
// struck once, nobody is left behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "impls/lazarus/live/fault_phases.hpp"
#include "tests/lazarus/live/live_training.hpp"

namespace assay::lazarus {
namespace {

struct Scenario {
    const char* name;
    const char* faults;
    long deaths = 0;
    long joins = 0;
    long leaves = 0;
    long discarded = 0;  ///< attempts at a step that must have been thrown away
    long fallbacks = 0;
    int min_replicas = 2;
    long retries = 0;    ///< of steps that failed on live workers
    long evictions = 0;  ///< of workers that could not be reached
};

class LiveFaults : public testing::TestWithParam<Scenario> {};

void expect_whole_lineage(const SessionResult& result, Step steps) {
    ASSERT_EQ(static_cast<Step>(result.lineage.size()), steps);
    for (Step step = 0; step < steps; ++step)
        EXPECT_EQ(result.lineage[static_cast<std::size_t>(step)].step, step);
}

void expect_equal_to_oracle(const SessionOptions& options, const SessionResult& result) {
    ASSERT_EQ(result.digests.size(), result.lineage.back().training.size());
    EXPECT_TRUE(agrees(result.digests, replay_lineage(options.training, result.lineage)));
}

TEST_P(LiveFaults, TrainingGoesOnAndNothingIsLost) {
    const auto& scenario = GetParam();
    auto options = small_session(scenario.faults);
    options.operation_timeout_s = 2;
    options.controller.min_replicas = scenario.min_replicas;
    const auto run = run_live(options);
    const auto& result = run.result;
    ASSERT_TRUE(result.ok) << result.why;
    expect_whole_lineage(result, options.controller.steps);
    expect_equal_to_oracle(options, result);
    EXPECT_EQ(result.faults_fired, static_cast<long>(options.faults.faults.size()));
    EXPECT_EQ(result.counts.deaths, scenario.deaths);
    EXPECT_EQ(result.joins, scenario.joins);
    EXPECT_EQ(result.counts.leaves, scenario.leaves);
    EXPECT_EQ(result.counts.discarded, scenario.discarded);
    EXPECT_EQ(result.counts.fallbacks, scenario.fallbacks);
    EXPECT_EQ(result.counts.retries, scenario.retries);
    EXPECT_EQ(result.counts.evictions, scenario.evictions);
    EXPECT_EQ(children_alive(), 0);
}

INSTANTIATE_TEST_SUITE_P(
    Scenarios, LiveFaults,
    testing::Values(
        Scenario{.name = "Nothing", .faults = ""},
        Scenario{
            .name = "KillDuringStep", .faults = "kill:rank=1@step=3", .deaths = 1, .discarded = 1},
        Scenario{.name = "KillDuringFirstStep",
                 .faults = "kill:rank=0@step=0",
                 .deaths = 1,
                 .discarded = 1},
        Scenario{.name = "KillDuringLastStep",
                 .faults = "kill:rank=4@step=7",
                 .deaths = 1,
                 .discarded = 1},
        Scenario{.name = "OneAfterTheOther",
                 .faults = "kill:rank=1@step=2; kill:rank=3@step=5",
                 .deaths = 2,
                 .discarded = 2},
        Scenario{
            .name = "KillDuringRegroup",
            .faults = "kill:rank=1@step=3; join:count=1@step=4; kill:rank=2,phase=regroup@step=5",
            .deaths = 2,
            .joins = 1,
            .discarded = 1},
        Scenario{.name = "KillDuringTransfer",
                 .faults = "join:count=1@step=2; kill:rank=0,phase=transfer@step=3",
                 .deaths = 1,
                 .joins = 1},
        Scenario{
            .name = "HangForever", .faults = "hang:rank=2@step=3", .deaths = 1, .discarded = 1},
        Scenario{.name = "ShortHangIsSurvived", .faults = "hang:rank=2@step=3,for=0.2"},
        Scenario{.name = "OrderlyLeave", .faults = "stop:rank=3@step=2", .leaves = 1},
        Scenario{.name = "Join", .faults = "join:count=1@step=2", .joins = 1},
        Scenario{.name = "TwoJoinAtOnce", .faults = "join:count=2@step=2", .joins = 2},
        Scenario{.name = "KillOfTheOneThatJustJoined",
                 .faults = "join:count=1@step=2; kill:rank=5@step=3",
                 .deaths = 1,
                 .joins = 1,
                 .discarded = 1},
        Scenario{.name = "KillOfTheJoinerInItsFirstTransfer",
                 .faults = "join:count=1@step=2; kill:rank=5,phase=transfer@step=3",
                 .deaths = 1,
                 .joins = 1},
        Scenario{.name = "KillInTheRebalance",
                 .faults = "kill:rank=2,phase=transfer@step=5",
                 .deaths = 1},
        Scenario{.name = "LeaveAndKillTogether",
                 .faults = "stop:rank=3@step=3; kill:rank=4@step=3",
                 .deaths = 1,
                 .leaves = 1,
                 .discarded = 1},
        Scenario{.name = "NotANumber", .faults = "nan:rank=1@step=3", .discarded = 1, .retries = 1},
        Scenario{.name = "CorruptMessage",
                 .faults = "corrupt:rank=2,target=message@step=3",
                 .discarded = 1,
                 .retries = 1},
        Scenario{.name = "CorruptTensor",
                 .faults = "corrupt:rank=2,target=tensor@step=3",
                 .deaths = 1,
                 .discarded = 1,
                 .retries = 1},
        Scenario{.name = "SlowWorker", .faults = "slow:rank=1,factor=4@step=3,for=0.3"},
        Scenario{.name = "DelayedLink",
                 .faults = "link:rank=1,peer=2,latency=0.02,bandwidth=1e6@step=3,for=0.3"},
        Scenario{.name = "LossyLink", .faults = "link:rank=1,loss=0.2@step=3,for=0.3"},
        Scenario{.name = "CutThatHeals", .faults = "link:rank=1,cut=1@step=3,for=0.2"},
        Scenario{.name = "CutForGood",
                 .faults = "link:rank=1,cut=1@step=3",
                 .deaths = 1,
                 .discarded = 1,
                 .evictions = 1},
        Scenario{.name = "FullDisk", .faults = "disk_full:rank=0@step=2"},
        Scenario{.name = "TornCheckpointThatNobodyNeeds", .faults = "torn:rank=0@step=2"}),
    [](const auto& info) { return info.param.name; });

// Whatever a seeded plan brings: training ends well, nothing committed is lost without a fallback,
// the state equals the replay. The seed is the test's parameter, so a failure names it.
class LiveSeeds : public testing::TestWithParam<std::uint64_t> {};

TEST_P(LiveSeeds, InvariantsHold) {
    auto options = small_session("");
    options.controller.steps = 10;
    options.faults =
        random_fault_plan({.workers = 5, .steps = 10, .faults = 3, .joins = true, .hangs = false},
                          GetParam(), fault_phases());
    SCOPED_TRACE(to_string(options.faults));
    const auto run = run_live(options);
    const auto& result = run.result;
    EXPECT_EQ(children_alive(), 0);
    if (!result.ok) {  // too few workers left for the experts: rightly given up
        EXPECT_THAT(result.why, testing::HasSubstr("cannot hold"));
        return;
    }
    expect_whole_lineage(result, options.controller.steps);
    expect_equal_to_oracle(options, result);
    EXPECT_LE(result.faults_fired, static_cast<long>(options.faults.faults.size()));
    if (result.counts.fallbacks == 0) {
        EXPECT_EQ(result.counts.rolled_back, 0);
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, LiveSeeds, testing::Range(std::uint64_t{1}, std::uint64_t{16}));

TEST(LiveFallback, TwoAtOnceWithOneReplicaEachGoBackToTheCheckpoint) {
    auto options = small_session("kill:rank=0@step=5; kill:rank=1@step=5");
    options.controller.initial_workers = 4;
    options.controller.slots = 2;
    options.controller.min_replicas =
        1;  // 8 slots for 4 experts: two losses take some expert along
    options.controller.placement = PlacementPolicy::compact;
    const auto run = run_live(options);
    ASSERT_TRUE(run.result.ok) << run.result.why;
    expect_whole_lineage(run.result, options.controller.steps);
    expect_equal_to_oracle(options, run.result);
    EXPECT_EQ(run.result.counts.fallbacks, 1);
    EXPECT_EQ(run.result.counts.rolled_back,
              2);  // checkpoint before step 3; steps 3 and 4 go again
    EXPECT_EQ(children_alive(), 0);
}

// The newest checkpoint (before step 6) is torn, the one before it (before step 3) is whole.
TEST(LiveFallback, ATornCheckpointIsPassedOver) {
    auto options = small_session("torn:rank=0@step=4; kill:rank=0@step=7; kill:rank=1@step=7");
    options.controller.initial_workers = 4;
    options.controller.slots = 2;
    options.controller.min_replicas = 1;
    options.controller.placement = PlacementPolicy::compact;
    const auto run = run_live(options);
    ASSERT_TRUE(run.result.ok) << run.result.why;
    expect_whole_lineage(run.result, options.controller.steps);
    expect_equal_to_oracle(options, run.result);
    EXPECT_EQ(run.result.counts.bad_checkpoints, 1);
    EXPECT_EQ(run.result.counts.rolled_back, 4);
    EXPECT_EQ(run.result.faults_fired, 3);
}

// A full disk leaves the checkpoint before step 6 without a part: the one before step 3 serves.
TEST(LiveFallback, ACheckpointThatFoundNoSpaceIsNotUsed) {
    auto options = small_session("disk_full:rank=0@step=4; kill:rank=0@step=7; kill:rank=1@step=7");
    options.controller.initial_workers = 4;
    options.controller.slots = 2;
    options.controller.min_replicas = 1;
    options.controller.placement = PlacementPolicy::compact;
    const auto run = run_live(options);
    ASSERT_TRUE(run.result.ok) << run.result.why;
    expect_equal_to_oracle(options, run.result);
    EXPECT_EQ(run.result.counts.bad_checkpoints, 0);
    EXPECT_EQ(run.result.counts.rolled_back, 4);
}

TEST(LiveFallback, WithoutACheckpointTrainingStartsOver) {
    auto options = small_session("kill:rank=0@step=4; kill:rank=1@step=4");
    options.controller.initial_workers = 4;
    options.controller.slots = 2;
    options.controller.min_replicas = 1;
    options.controller.placement = PlacementPolicy::compact;
    options.controller.checkpoint_every = 0;
    const auto run = run_live(options);
    ASSERT_TRUE(run.result.ok) << run.result.why;
    expect_whole_lineage(run.result, options.controller.steps);
    expect_equal_to_oracle(options, run.result);
    EXPECT_EQ(run.result.counts.rolled_back, 4);
}

TEST(LiveFallback, EveryoneKilledEndsWithASentence) {
    auto options = small_session("kill:rank=0@step=3; kill:rank=1@step=3; kill:rank=2@step=3");
    options.controller.initial_workers = 3;
    const auto run = run_live(options);
    EXPECT_FALSE(run.result.ok);
    EXPECT_FALSE(run.result.why.empty());
    EXPECT_EQ(run.result.lineage.size(), 3u);  // what was committed is still known
    EXPECT_EQ(children_alive(), 0);
}

// Wherever in a step the bit flips: between the report and the commit too.
TEST(LiveCorruption, AtAnyMomentIsFoundBeforeItIsTrainedOn) {
    for (const char* faults :
         {"corrupt:rank=1,target=tensor@t=0.05", "corrupt:rank=2,target=tensor@t=0.1",
          "corrupt:rank=3,target=tensor@t=0.15"}) {
        auto options = small_session(faults);
        options.controller.steps = 30;
        const auto run = run_live(options);
        ASSERT_TRUE(run.result.ok) << run.result.why;
        EXPECT_EQ(run.result.counts.deaths, 1) << faults;
        expect_equal_to_oracle(options, run.result);
    }
}

// Worker 1 waits for its link to worker 2 to heal when that dies: it must learn of it at once and
// not when its own patience ends.
TEST(LiveLinks, AnAbortReachesAWorkerThatALinkHoldsBack) {
    auto options = small_session("link:rank=1,peer=2,cut=1@t=0.1; kill:rank=2@t=0.4");
    options.controller.steps = 30;
    options.operation_timeout_s = 20;
    const auto run = run_live(options);
    ASSERT_TRUE(run.result.ok) << run.result.why;
    EXPECT_EQ(run.result.faults_fired, 2);
    EXPECT_EQ(run.result.counts.deaths, 1);
    EXPECT_EQ(run.result.counts.evictions, 0);
    ASSERT_EQ(run.result.recoveries.size(), 1u);
    const auto& recovery = run.result.recoveries.front();
    EXPECT_LT(recovery.resumed_s - recovery.detected_s, options.operation_timeout_s / 2);
    expect_equal_to_oracle(options, run.result);
}

TEST(LiveReplay, TheSamePlanAndSeedGiveTheSameStateTwice) {
    const auto options = small_session("kill:rank=1@step=2; join:count=1@step=4");
    const auto first = run_live(options).result, second = run_live(options).result;
    ASSERT_TRUE(first.ok && second.ok);
    EXPECT_EQ(first.digests, second.digests);
    ASSERT_EQ(first.steps.size(), second.steps.size());
    for (std::size_t i = 0; i < first.steps.size(); ++i)
        EXPECT_EQ(first.steps[i].loss, second.steps[i].loss);
}

}  // namespace
}  // namespace assay::lazarus
