// Paced trainings: real processes and real kills, in the time of a modelled cluster.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "impls/lazarus/live/fault_phases.hpp"
#include "impls/lazarus/live/worker.hpp"
#include "impls/lazarus/spot/spot_session.hpp"
#include "tests/lazarus/live/live_training.hpp"

namespace assay::lazarus {
namespace {

LiveRun run_paced(SpotTraining training, const std::string& faults,
                  double operation_timeout_s = 10) {
    training.real_layers = 2;
    auto options = spot_session(training, ASSAY_TEST_CORPUS, "");
    options.operation_timeout_s = operation_timeout_s;
    options.faults = parse_fault_plan(faults, fault_phases());
    return run_live(options);
}

SpotTraining small(const std::string& system, Step steps = 12) {
    SpotTraining training;
    training.system = system;
    training.workers = 6;
    training.steps = steps;
    return training;
}

void expect_equal_to_oracle(const SpotTraining& training, const LiveRun& run) {
    auto with_layers = training;
    with_layers.real_layers = 2;
    const auto options = spot_session(with_layers, ASSAY_TEST_CORPUS, "");
    EXPECT_TRUE(agrees(run.result.digests, replay_lineage(options.training, run.result.lineage)));
}

// Steps follow each other without gap or overlap unless something happened in between.
void expect_ordered(const SessionResult& result) {
    for (std::size_t i = 0; i < result.steps.size(); ++i) {
        EXPECT_LT(result.steps[i].start_s, result.steps[i].end_s);
        if (i == 0) continue;
        EXPECT_GE(result.steps[i].start_s, result.steps[i - 1].end_s - 1e-6);
    }
}

TEST(Paced, UndisturbedStepsTakeTheirModelledTimeExactly) {
    const auto training = small("lazarus", 6);
    const auto run = run_paced(training, "");
    ASSERT_TRUE(run.result.ok) << run.result.why;
    expect_ordered(run.result);
    ASSERT_EQ(run.result.steps.size(), 6u);
    EXPECT_EQ(run.result.steps.front().start_s, 0);
    for (std::size_t i = 1; i < run.result.steps.size(); ++i)
        EXPECT_NEAR(run.result.steps[i].start_s, run.result.steps[i - 1].end_s, 1e-6);
    expect_equal_to_oracle(training, run);
}

TEST(Paced, AKillCostsWhatTheProfileSays) {
    const auto training = small("lazarus");
    const auto run = run_paced(training, "kill:rank=1@step=4");
    ASSERT_TRUE(run.result.ok) << run.result.why;
    expect_ordered(run.result);
    ASSERT_EQ(run.result.reconfigurations.size(), 1u + 1u);  // the kill, and a rebalance
    const auto& one = run.result.reconfigurations.front();
    EXPECT_TRUE(one.after_death);
    EXPECT_FALSE(one.restart);
    const auto cluster = cluster_profile("lazarus-testbed");
    EXPECT_EQ(one.cost.detect_s, cluster.detect_s.value);
    EXPECT_EQ(one.cost.regroup_s, cluster.regroup_s.value);
    // Scenario time passed over by as much, though the machine took a fraction of it.
    const auto& steps = run.result.steps;
    EXPECT_GE(steps[4].start_s - steps[3].end_s, one.cost.total() - 1e-6);
    EXPECT_GT(one.real_s, 0);
    EXPECT_LT(one.real_s, one.cost.total());
    EXPECT_EQ(run.result.counts.fallbacks, 0);
    expect_equal_to_oracle(training, run);
}

TEST(Paced, FaultsByTimeStrikeInScenarioTime) {
    const auto training = small("lazarus");
    const auto run = run_paced(training, "kill:rank=1@t=60; join:count=1@t=100");
    ASSERT_TRUE(run.result.ok) << run.result.why;
    EXPECT_EQ(run.result.faults_fired, 2);
    std::vector<double> faults;
    for (const auto& event : run.recorder.events)
        if (event.kind == "fault") faults.push_back(event.t_s);
    ASSERT_EQ(faults.size(), 2u);
    EXPECT_GE(faults[0], 60);
    EXPECT_LT(faults[0], 100);
    EXPECT_GE(faults[1], 100);
    EXPECT_EQ(run.result.joins, 1);
    expect_equal_to_oracle(training, run);
}

TEST(Paced, KillsAtOneMomentAreOneLoss) {
    const auto training = small("lazarus");
    const auto run = run_paced(training, "kill:rank=1@t=60; kill:rank=2@t=60; kill:rank=4@t=60");
    ASSERT_TRUE(run.result.ok) << run.result.why;
    long after_death = 0;
    for (const auto& one : run.result.reconfigurations) after_death += one.after_death;
    EXPECT_EQ(after_death, 1);
    EXPECT_EQ(run.result.counts.discarded, 1);
    std::set<double> moments;
    for (const auto& event : run.recorder.events)
        if (event.kind == "fault") moments.insert(event.t_s);
    // Two losses would be at least a detection apart.
    EXPECT_LT(*moments.rbegin() - *moments.begin(),
              cluster_profile("lazarus-testbed").detect_s.value);
}

// Whatever happens: steps and pauses follow each other and never overlap.
TEST(Paced, StepsAndPausesFillTheTimeWithoutOverlap) {
    for (const char* system : {"lazarus", "ds"}) {
        auto training = small(system, 1000000);
        training.duration_s = 400;
        const auto run = run_paced(training,
                                   "kill:rank=1@t=60; kill:rank=2@t=70; join:count=2@t=120; "
                                   "kill:rank=3@t=300");
        ASSERT_TRUE(run.result.ok) << run.result.why;
        std::vector<std::pair<double, double>> spans;
        for (const auto& step : run.result.steps) spans.emplace_back(step.start_s, step.end_s);
        for (const auto& pause : run.result.pauses.spans())
            spans.emplace_back(pause.from, pause.to);
        std::sort(spans.begin(), spans.end());
        for (std::size_t i = 1; i < spans.size(); ++i)
            EXPECT_GE(spans[i].first, spans[i - 1].second - 1e-6) << system << ", span " << i;
    }
}

TEST(Paced, DeepSpeedRestartsInWholeGroups) {
    const auto training = small("ds");
    const auto run = run_paced(training, "kill:rank=1@step=5");
    ASSERT_TRUE(run.result.ok) << run.result.why;
    EXPECT_EQ(run.result.counts.fallbacks, 1);
    EXPECT_EQ(run.result.restarts.size(), 1u);
    std::vector<std::string> reasons;
    for (const auto& event : run.recorder.events)
        if (event.kind == "restart") reasons.push_back(event.detail.at("reason"));
    EXPECT_THAT(reasons, testing::ElementsAre("every_loss"));
    for (const auto& step : run.result.lineage) EXPECT_EQ(step.training.size() % 2, 0u);
    EXPECT_EQ(run.result.lineage.back().training.size(), 4u);  // 5 are alive
    EXPECT_GT(run.result.pauses.seconds(Pause::restart, 1e9), 0);
    EXPECT_GT(run.result.pauses.seconds(Pause::checkpoint, 1e9), 0);
    expect_equal_to_oracle(training, run);
}

TEST(Paced, DeepSpeedWithLazarusRecoveryKeepsItsState) {
    const auto training = small("ds_ft");
    const auto run = run_paced(training, "kill:rank=1@step=5");
    ASSERT_TRUE(run.result.ok) << run.result.why;
    EXPECT_EQ(run.result.counts.fallbacks, 0);
    EXPECT_EQ(run.result.lineage.back().training.size(), 4u);
    expect_equal_to_oracle(training, run);
}

TEST(Paced, ASlowWorkerSlowsEveryStepWhileItLasts) {
    const auto training = small("lazarus", 8);
    const auto run = run_paced(training, "slow:rank=2,factor=5@step=4");
    ASSERT_TRUE(run.result.ok) << run.result.why;
    const auto length = [&](std::size_t step) {
        return run.result.steps[step].end_s - run.result.steps[step].start_s;
    };
    EXPECT_GT(length(6), 1.2 * length(2));
    expect_equal_to_oracle(training, run);
}

double length(const SessionResult& result, std::size_t step) {
    return result.steps[step].end_s - result.steps[step].start_s;
}

// What the modelled cluster would take does not follow from how late real work is; only a fault
// that ends has an effect that is measured so.
TEST(Paced, ALinkThatStaysBadMakesOverrunAndNotModelledTime) {
    const auto training = small("lazarus", 8);
    const auto run = run_paced(training, "link:rank=2,latency=8@step=4");
    ASSERT_TRUE(run.result.ok) << run.result.why;
    for (std::size_t step = 4; step < run.result.steps.size(); ++step)
        EXPECT_LT(length(run.result, step), 1.2 * length(run.result, 3)) << "step " << step;
    EXPECT_GT(run.result.pacing.overrun(), 0.05);
    try {
        require_paced(run.result.pacing);
        FAIL() << "the sample counts";
    } catch (const SampleError& error) {
        EXPECT_EQ(error.status(), SampleStatus::invalid);
        EXPECT_THAT(error.what(), testing::HasSubstr("link"));
    }
    expect_equal_to_oracle(training, run);
}

TEST(Paced, ALinkThatHealsCostsModelledTimeUntilThen) {
    const auto training = small("lazarus");
    const auto run = run_paced(training, "link:rank=2,latency=8@step=4,for=100");
    ASSERT_TRUE(run.result.ok) << run.result.why;
    EXPECT_GT(length(run.result, 4), 1.2 * length(run.result, 3));
    EXPECT_LT(length(run.result, 11), 1.2 * length(run.result, 3));
    expect_ordered(run.result);
}

// After the steps that warm up and up to the fault, and from the first whole step after it on,
// lateness is somebody's fault: all of those steps are looked at.
void expect_watched_again(const SessionResult& result, std::size_t fault, std::size_t from) {
    double watched_s = 0;
    for (std::size_t step = 2; step < result.steps.size(); ++step)
        if (step < fault || step >= from) watched_s += length(result, step);
    EXPECT_GE(result.pacing.step_s, 0.99 * watched_s);
}

TEST(Paced, LatenessAfterAnEvictionIsOverrunAgain) {
    const auto training = small("lazarus");
    const auto run = run_paced(training, "link:rank=1,cut=1@step=4", 2);
    ASSERT_TRUE(run.result.ok) << run.result.why;
    EXPECT_EQ(run.result.counts.evictions, 1);
    expect_watched_again(run.result, 4, 5);
    expect_equal_to_oracle(training, run);
}

TEST(Paced, ADisturbanceEndsWithItsWorker) {
    const auto training = small("lazarus");
    const auto run =
        run_paced(training, "link:rank=1,latency=0.01@step=3,for=1000000; kill:rank=1@step=6");
    ASSERT_TRUE(run.result.ok) << run.result.why;
    expect_watched_again(run.result, 3, 7);
}

// It lasts longer than heartbeats may be missed, so it ends as one that never ends.
TEST(Paced, DetectingALongHangTakesWhatTheProfileSays) {
    const auto training = small("lazarus");
    const auto run = run_paced(training, "hang:rank=1@step=4,for=1000000");
    ASSERT_TRUE(run.result.ok) << run.result.why;
    EXPECT_EQ(run.result.counts.deaths, 1);
    ASSERT_FALSE(run.result.reconfigurations.empty());
    const auto& steps = run.result.steps;
    // The step that was thrown away had begun.
    EXPECT_LT(steps[4].start_s - steps[3].end_s,
              run.result.reconfigurations.front().cost.total() + 2 * length(run.result, 3));
    expect_watched_again(run.result, 4, 5);
    expect_equal_to_oracle(training, run);
}

// With the first step that reaches its time.
void expect_ends_at(const SessionResult& result, double duration_s) {
    EXPECT_GE(result.steps.back().end_s, duration_s);
    for (std::size_t i = 0; i + 1 < result.steps.size(); ++i)
        EXPECT_LT(result.steps[i].end_s, duration_s) << "step " << i;
}

TEST(Paced, TimeEndsATraining) {
    auto training = small("lazarus", 1000000);
    training.duration_s = 120;
    const auto run = run_paced(training, "kill:rank=3@t=50");
    ASSERT_TRUE(run.result.ok) << run.result.why;
    expect_ends_at(run.result, 120);
    expect_equal_to_oracle(training, run);
}

// The clock is ahead of steps whose real work is late.
TEST(Paced, TimeEndsATrainingThatIsLateNoEarlier) {
    auto training = small("lazarus", 1000000);
    training.duration_s = 70;
    const auto run = run_paced(training, "link:rank=2,latency=8@step=2");
    ASSERT_TRUE(run.result.ok) << run.result.why;
    EXPECT_GT(run.result.pacing.overrun(), 0.05);
    expect_ends_at(run.result, 70);
    expect_equal_to_oracle(training, run);
}

TEST(Paced, NobodyLeftAndNobodyToComeIsAnEnd) {
    auto training = small("lazarus");
    const auto run = run_paced(training,
                               "kill:rank=0@t=40; kill:rank=1@t=40; kill:rank=2@t=40; "
                               "kill:rank=3@t=40; kill:rank=4@t=40");
    EXPECT_FALSE(run.result.ok);
    EXPECT_TRUE(run.result.gave_up);
    EXPECT_THAT(run.result.why, testing::HasSubstr("none will join"));
}

TEST(Paced, TimeMayEndWhileItWaitsForNodes) {
    auto training = small("lazarus", 1000000);
    training.duration_s = 200;
    const auto run = run_paced(training,
                               "kill:rank=0@t=40; kill:rank=1@t=40; kill:rank=2@t=40; "
                               "kill:rank=3@t=40; kill:rank=4@t=40");
    EXPECT_TRUE(run.result.ok);
    EXPECT_EQ(run.result.why, "time is up");
    EXPECT_LT(run.result.steps.back().end_s, 200);
}

TEST(Paced, WithoutEnoughNodesItWaitsForNewOnes) {
    auto training = small("ds", 10);
    training.model = "gpt-l";  // groups of four
    const auto run = run_paced(training,
                               "kill:rank=1@t=40; kill:rank=2@t=40; kill:rank=3@t=40; "
                               "join:count=2@t=900");
    ASSERT_TRUE(run.result.ok) << run.result.why;
    EXPECT_EQ(run.result.counts.waits, 1);
    bool waited = false;
    for (std::size_t i = 1; i < run.result.steps.size(); ++i)
        waited |= run.result.steps[i - 1].end_s < 900 && run.result.steps[i].start_s > 900;
    EXPECT_TRUE(waited);
    expect_equal_to_oracle(training, run);
}

}  // namespace
}  // namespace assay::lazarus
