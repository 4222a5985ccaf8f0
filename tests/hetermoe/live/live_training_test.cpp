// Real processes train in zebra groups; some are killed, frozen, asked to leave, or join. After
// each run: every step was committed once, the state equals that of the same groups without faults
// bit for bit, and it differs from one process' by rounding alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "impls/elastic/watch.hpp"
#include "impls/hetermoe/live/fault_phases.hpp"
#include "impls/hetermoe/live/session.hpp"
#include "impls/hetermoe/live/worker.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/hetermoe/scenarios.hpp"

namespace assay::hetermoe {
namespace {

SessionOptions small_session(const Scenario& scenario) {
    SessionOptions options;
    options.training.model = {.layers = 2,
                              .width = 16,
                              .heads = 2,
                              .experts = 8,
                              .top_k = 2,
                              .hidden = 24,
                              .context = 12,
                              .dtype = at::kDouble};
    options.training.sequences = 8;
    options.training.corpus = ASSAY_TEST_CORPUS;  // real text that every checkout has
    options.controller = controller_settings(scenario.settings);
    options.supervisor.heartbeat_timeout = cluster::Seconds(1.0);
    options.operation_timeout_s = 5;
    options.faults = parse_fault_plan(scenario.faults, fault_phases());
    return options;
}

/// Where the same events lead to other actions, or a rule of any training is broken.
std::vector<std::string> broken_rules(const SessionOptions& options, const SessionResult& result) {
    return elastic::watch_decisions(Controller(options.controller),
                                    elastic::Watch({.steps = options.controller.steps}),
                                    result.decisions);
}

class LiveTraining : public ::testing::TestWithParam<Scenario> {};

TEST_P(LiveTraining, GoesOnAndNothingIsLost) {
    const auto& scenario = GetParam();
    auto options = small_session(scenario);
    const testing::TemporaryFolder folder;
    options.checkpoints = folder.path();
    MemoryRecorder recorder;
    const auto result = run_training(cluster::make_fork_server(worker_main), options, recorder);
    ASSERT_TRUE(result.ok) << result.why;

    ASSERT_EQ(static_cast<Step>(result.lineage.size()), options.controller.steps);
    const nn::ByteCorpus corpus(options.training.corpus);
    PlannedTraining replay(options.training, corpus);
    OneProcess one(options.training, corpus);
    std::map<Step, double> losses;
    for (const auto& step : result.steps) losses[step.step] = step.loss;
    for (Step step = 0; step < options.controller.steps; ++step) {
        const auto& committed = result.lineage[static_cast<std::size_t>(step)];
        EXPECT_EQ(committed.step, step);
        EXPECT_EQ(replay.train(committed).loss, losses.at(step));
        EXPECT_NEAR(one.train(step, committed.layout), losses.at(step), 1e-12 * losses.at(step));
    }
    EXPECT_EQ(result.digests.size(), result.lineage.back().layout.ranks.size());
    EXPECT_TRUE(agrees(result.digests, replay.digests()));
    EXPECT_LT(largest_difference(replay, one.state()), 1e-9);

    EXPECT_THAT(broken_rules(options, result), ::testing::IsEmpty());
    EXPECT_EQ(result.faults_fired, static_cast<long>(options.faults.faults.size()));
    EXPECT_EQ(elastic::counts_of(result.counts), scenario.counts);
}

// A long time for attention, little for experts, and much of both, so that a slow processor shows.
// Experts run on old workers until these get a twelfth of their time, then Algorithm 1 moves some.
// Trains with an old worker that slows; whether that was noticed, and experts moved away from it.
// Whatever was, no number changes.
bool notices_a_slow_kind() {
    auto options = small_session(
        {elastic::Clock::real, "Slow", "slow:rank=1,factor=12@step=9", {}, {.group = {1, 1}}});
    options.training.model.context = 64;
    options.training.model.width = 32;
    options.training.model.hidden = 8;
    options.training.sequences = 16;
    options.controller.squeeze = true;
    options.controller.steps = 20;
    options.pace = PaceSettings{.window = 3};
    const testing::TemporaryFolder folder;
    options.checkpoints = folder.path();
    MemoryRecorder recorder;
    const auto result = run_training(cluster::make_fork_server(worker_main), options, recorder);
    EXPECT_TRUE(result.ok) << result.why;
    if (!result.ok) return true;
    EXPECT_EQ(result.faults_fired, 1);
    EXPECT_EQ(result.counts.discarded, 0) << "a new plan begins between steps";
    // Never slowed, never planned anew: one process.
    const nn::ByteCorpus corpus(options.training.corpus);
    PlannedTraining replay(options.training, corpus);
    OneProcess one(options.training, corpus);
    for (const auto& step : result.lineage) {
        replay.train(step);
        one.train(step.step, step.layout);
    }
    EXPECT_TRUE(agrees(result.digests, replay.digests()));
    EXPECT_LT(largest_difference(replay, one.state()), 1e-9);
    EXPECT_THAT(broken_rules(options, result), ::testing::IsEmpty());

    const auto moved = [&](const CommittedStep& step) {
        return std::accumulate(step.layout.offload.begin(), step.layout.offload.end(), 0);
    };
    // A worker that is given less to do uses less than its quota, and gets some back later.
    int most = 0;
    for (const auto& step : result.lineage) most = std::max(most, moved(step));
    return most > moved(result.lineage[8]) &&
           std::any_of(recorder.events.begin(), recorder.events.end(), [](const auto& event) {
               return event.kind == "pace" && event.detail.at("kind") == "old" &&
                      event.detail.at("factor") > 1.5;
           });
}

// On a busy machine other workers are slow as well, and it may not show.
TEST(LiveTrainingPace, ASlowKindGivesExpertsAwayAndNoNumberChanges) {
    bool noticed = false;
    for (int attempt = 0; attempt < 4 && !noticed && !HasFailure(); ++attempt)
        noticed = notices_a_slow_kind();
    EXPECT_TRUE(noticed);
}

INSTANTIATE_TEST_SUITE_P(Scenarios, LiveTraining,
                         ::testing::ValuesIn(elastic::rows_of(elastic::Clock::real, scenarios())),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace assay::hetermoe
