// Real processes are killed, frozen, dismissed and added in the middle of a training. After each
// run: every step was committed, the state equals the fault-free replay bit for bit, every fault
// struck once, nobody is left behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "impls/lazarus/live/fault_phases.hpp"
#include "tests/lazarus/live/live_training.hpp"
#include "tests/lazarus/scenarios.hpp"

namespace assay::lazarus {
namespace {

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
    options.controller = controller_config(scenario.settings);
    options.operation_timeout_s = 2;
    const auto run = run_live(options);
    const auto& result = run.result;
    ASSERT_TRUE(result.ok) << result.why;
    expect_whole_lineage(result, options.controller.steps);
    expect_equal_to_oracle(options, result);
    EXPECT_EQ(result.faults_fired, static_cast<long>(options.faults.faults.size()));
    EXPECT_EQ(elastic::counts_of(result.counts, options.controller.initial_workers),
              scenario.counts);
    EXPECT_EQ(children_alive(), 0);
}

INSTANTIATE_TEST_SUITE_P(Scenarios, LiveFaults,
                         ::testing::ValuesIn(elastic::rows_of(elastic::Clock::real, scenarios())),
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

INSTANTIATE_TEST_SUITE_P(Seeds, LiveSeeds, testing::Range(std::uint64_t{1}, std::uint64_t{6}));

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
