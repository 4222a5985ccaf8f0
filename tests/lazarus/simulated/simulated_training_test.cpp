// Trainings in virtual time: what each second of them is made of, and that faults cost what the
// cost model says.
#include "impls/lazarus/simulated/training.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "impls/lazarus/cost/ranks_of_nodes.hpp"
#include "impls/lazarus/cost/recovery_cost.hpp"
#include "impls/lazarus/data/routing_replay.hpp"
#include "impls/lazarus/policy/rivals/systems.hpp"
#include "impls/lazarus/simulated/modelled_durations.hpp"
#include "impls/lazarus/spot/spot_training.hpp"
#include "impls/lazarus/watch/watch_decisions.hpp"
#include "suite/base/error.hpp"
#include "suite/scenario/cost_model.hpp"
#include "suite/scenario/traces/availability_trace.hpp"

namespace assay::lazarus {
namespace {

ModelledTraining training_of(const std::string& system, Step steps,
                             const std::string& faults = "") {
    SpotTraining spot;
    spot.system = system;
    spot.workers = 6;
    spot.steps = steps;
    auto training = modelled_training(spot);
    training.faults = parse_fault_plan(faults);
    return training;
}

SimulatedCourse simulate(const ModelledTraining& training) {
    MemoryRecorder recorder;
    return simulate_training(training, recorder);
}

double length(const StepRecord& step) { return step.end_s - step.start_s; }

// Whatever happens: steps and pauses follow each other and never overlap.
void expect_ordered(const TrainingCourse& course) {
    std::vector<std::pair<double, double>> spans;
    for (const auto& step : course.steps) spans.emplace_back(step.start_s, step.end_s);
    for (const auto& pause : course.pauses.spans()) spans.emplace_back(pause.from, pause.to);
    std::sort(spans.begin(), spans.end());
    for (std::size_t i = 1; i < spans.size(); ++i)
        EXPECT_LE(spans[i - 1].second, spans[i].first + 1e-9) << i;
}

TEST(SimulatedTraining, WithoutFaultsItIsStepsAndCheckpoints) {
    const auto training = training_of("lazarus", 25);
    const auto course = simulate(training);
    ASSERT_TRUE(course.ok) << course.why;
    ASSERT_EQ(course.steps.size(), 25U);
    EXPECT_EQ(course.lineage.size(), 25U);
    const CostModel costs(cluster_profile("lazarus-testbed"));
    const double regroup = costs.cluster().regroup_s.value;
    double time = 0;
    for (const auto& step : course.steps) {
        // Rebalanced every 200 modelled steps, written every 250: steps 8, 16, 24 and 10, 20.
        if (step.step > 0 && step.step % 10 == 0)
            time += checkpoint_cost(costs, training.modelling);
        if (step.step > 0 && step.step % 8 == 0)
            EXPECT_GE(step.start_s, time + regroup) << step.step;
        else
            EXPECT_NEAR(step.start_s, time, 1e-9) << step.step;
        time = step.end_s;
    }
    EXPECT_EQ(course.steps.front().workers, 6);
    EXPECT_NEAR(course.pauses.seconds(Pause::checkpoint, 1e9),
                2 * checkpoint_cost(costs, training.modelling), 1e-9);
    expect_ordered(course);
}

TEST(SimulatedTraining, ALossCostsDetectionRegroupingTransferAndTheStepItStruck) {
    const auto calm = simulate(training_of("lazarus", 5));
    const double struck = calm.steps[2].start_s + 0.5 * length(calm.steps[2]);
    const auto course =
        simulate(training_of("lazarus", 5, "kill:rank=1@t=" + std::to_string(struck)));
    ASSERT_TRUE(course.ok) << course.why;
    EXPECT_EQ(course.counts.deaths, 1);
    EXPECT_EQ(course.counts.discarded, 1);
    EXPECT_EQ(course.steps[1].end_s, calm.steps[1].end_s);
    const CostModel costs(cluster_profile("lazarus-testbed"));
    const double least = costs.cluster().detect_s.value + costs.cluster().regroup_s.value;
    const double paused = course.pauses.seconds(Pause::reconfiguration, 1e9);
    EXPECT_GT(paused, least);  // states travel too
    EXPECT_LT(paused, least + 10);
    EXPECT_NEAR(course.steps[2].start_s, std::stod(std::to_string(struck)) + paused, 1e-9);
    EXPECT_EQ(course.steps[2].workers, 5);
    expect_ordered(course);
}

TEST(SimulatedTraining, ThoseWhoDieTogetherArePausedForOnce) {
    const auto one = simulate(training_of("lazarus", 4, "kill:rank=1@t=30"));
    const auto two = simulate(training_of("lazarus", 4, "kill:rank=1@t=30;kill:rank=4@t=30"));
    ASSERT_TRUE(two.ok) << two.why;
    EXPECT_EQ(two.counts.deaths, 2);
    EXPECT_EQ(two.pauses.spans().size(), one.pauses.spans().size());
    EXPECT_EQ(two.pauses.spans()[0].from, 30);
}

TEST(SimulatedTraining, WhoDiesInARecoveryBeginsItAnew) {
    const auto course = simulate(training_of("lazarus", 4, "kill:rank=1@t=30;kill:rank=4@t=50"));
    ASSERT_TRUE(course.ok) << course.why;
    ASSERT_EQ(course.pauses.spans().size(), 2U);
    EXPECT_EQ(course.pauses.spans()[0].to, 50);  // 15 s until it was known, 5 s of regrouping
    EXPECT_EQ(course.pauses.spans()[1].from, 50);
    EXPECT_GT(course.pauses.seconds(Pause::reconfiguration, 1e9), 20 + 15 + 10);
    expect_ordered(course);
}

TEST(SimulatedTraining, WhoDiesBeforeAnotherDeathIsKnownCountsFromItsOwnEnd) {
    const auto course = simulate(training_of("lazarus", 4, "kill:rank=1@t=30;kill:rank=4@t=40"));
    ASSERT_TRUE(course.ok) << course.why;
    ASSERT_EQ(course.pauses.spans().size(), 2U);
    EXPECT_EQ(course.pauses.spans()[0].from, 30);
    EXPECT_EQ(course.pauses.spans()[1].from, 40);
    EXPECT_GT(course.pauses.spans()[1].to, 40 + 15 + 10);
    expect_ordered(course);
}

TEST(SimulatedTraining, LosingAllHoldersSendsEveryoneBackToTheCheckpoint) {
    // All but one node at once: no placement of two replicas survives that.
    std::string faults;
    for (int rank = 0; rank < 5; ++rank) faults += "kill:rank=" + std::to_string(rank) + "@t=400;";
    auto training = training_of("lazarus", 1000, faults + "join:count=5@t=600");
    training.duration_s = 3000;
    const auto course = simulate(training);
    ASSERT_TRUE(course.ok) << course.why;
    EXPECT_EQ(course.counts.fallbacks, 1);
    EXPECT_GT(course.counts.rolled_back, 0);
    ASSERT_EQ(course.restarts.size(), 1U);
    EXPECT_GT(course.pauses.seconds(Pause::restart, 1e9), 60);
    EXPECT_LT(kept_steps(course, 3000).size(), course.steps.size());
    expect_ordered(course);
}

// On GPT-L a whole group of DeepSpeed's is four nodes: with three nobody trains.
TEST(SimulatedTraining, WaitingForNodesIsNeitherRestartNorReconfiguration) {
    SpotTraining spot;
    spot.system = "ds";
    spot.model = "gpt-l";
    spot.workers = 4;
    spot.duration_s = 2000;
    auto training = modelled_training(spot);
    training.faults = parse_fault_plan("kill:rank=1@t=300;join@t=1300");
    const auto course = simulate(training);
    ASSERT_TRUE(course.ok) << course.why;
    EXPECT_EQ(course.counts.waits, 1);
    ASSERT_EQ(course.restarts.size(), 1U);
    EXPECT_EQ(course.restarts[0], 1300);
    EXPECT_LT(course.pauses.seconds(Pause::restart, 2000), 300);  // 60 s of it to relaunch
    EXPECT_EQ(course.pauses.seconds(Pause::reconfiguration, 2000), 0);
    expect_ordered(course);
}

TEST(SimulatedTraining, ACheckpointBeforeARebalanceIsStillACheckpoint) {
    const auto training = training_of("lazarus", 42);  // step 40 is due for both
    const auto course = simulate(training);
    const CostModel costs(cluster_profile("lazarus-testbed"));
    EXPECT_NEAR(course.pauses.seconds(Pause::checkpoint, 1e9),
                4 * checkpoint_cost(costs, training.modelling), 1e-9);
    double trained = 0;
    for (const auto& step : course.steps) trained += length(step);
    const double end = course.steps.back().end_s;
    EXPECT_NEAR(trained + course.pauses.seconds(Pause::checkpoint, end) +
                    course.pauses.seconds(Pause::reconfiguration, end),
                end, 1e-6);
    expect_ordered(course);
}

TEST(SimulatedTraining, RestartsAndRegroupsAreDrawnWhereTheyBegan) {
    const auto training = training_of("lazarus", 5, "kill:rank=1@t=30;join:count=2@t=31");
    MemoryRecorder recorder;
    const auto course = simulate_training(training, recorder);
    std::map<std::string, std::vector<double>> at;
    for (const auto& event : recorder.events) at[event.kind].push_back(event.t_s);
    ASSERT_EQ(at["regroup"].size(), 2U);  // the start, and after the loss
    EXPECT_EQ(at["regroup"][1], 30);
    EXPECT_EQ(at["death"], std::vector<double>{30 + 15});
    EXPECT_EQ(at["fault"], (std::vector<double>{30, 31, 31}));  // one per newcomer
}

TEST(SimulatedTraining, ANoticeLosesNoStep) {
    const auto course = simulate(training_of("lazarus", 5, "stop:rank=2@t=30"));
    ASSERT_TRUE(course.ok) << course.why;
    EXPECT_EQ(course.counts.discarded, 0);
    EXPECT_EQ(course.counts.leaves, 1);
    EXPECT_EQ(course.steps.back().workers, 5);
    EXPECT_TRUE(course.restarts.empty());
}

TEST(SimulatedTraining, JoinersAreTakenTogetherAfterTheirWait) {
    const auto course = simulate(training_of("lazarus", 20, "join@t=30;join@t=40"));
    ASSERT_TRUE(course.ok) << course.why;
    EXPECT_EQ(course.steps.back().workers, 8);
    const auto grown = std::find_if(course.workers.begin(), course.workers.end(),
                                    [](const auto& change) { return change.second > 6; });
    ASSERT_NE(grown, course.workers.end());
    EXPECT_EQ(grown->second, 8);
    EXPECT_GE(grown->first, 30 + 120);  // join_wait_s
}

TEST(SimulatedTraining, ASlowNodeHoldsUpStepsThatBeginWhileItIsSlow) {
    const auto calm = simulate(training_of("lazarus", 6));
    const auto course = simulate(training_of("lazarus", 6, "slow:rank=0,factor=3@t=1,for=40"));
    EXPECT_EQ(length(course.steps[0]), length(calm.steps[0]));
    EXPECT_GT(length(course.steps[1]), 1.2 * length(calm.steps[1]));
    EXPECT_NEAR(length(course.steps.back()), length(calm.steps.back()), 1e-9);
}

// ---- faults of nodes that stay ------------------------------------------------------------------

void expect_same_steps(const TrainingCourse& a, const TrainingCourse& b) {
    ASSERT_EQ(a.steps.size(), b.steps.size());
    for (std::size_t i = 0; i < a.steps.size(); ++i) {
        EXPECT_EQ(a.steps[i].start_s, b.steps[i].start_s) << i;
        EXPECT_EQ(a.steps[i].end_s, b.steps[i].end_s) << i;
    }
}

TEST(SimulatedTraining, AShortFreezeDelaysTheStepByItsLength) {
    const auto calm = simulate(training_of("lazarus", 6));
    const auto course = simulate(training_of("lazarus", 6, "hang:rank=2@t=30,for=7"));
    ASSERT_TRUE(course.ok) << course.why;
    EXPECT_EQ(course.counts.deaths, 0);
    const auto struck = std::find_if(calm.steps.begin(), calm.steps.end(),
                                     [](const auto& step) { return step.end_s > 30; });
    const auto index = static_cast<std::size_t>(struck - calm.steps.begin());
    for (std::size_t i = 0; i < 6; ++i)
        EXPECT_NEAR(course.steps[i].end_s, calm.steps[i].end_s + (i < index ? 0 : 7), 1e-9) << i;
}

// By the profile nobody notices before 15 s.
TEST(SimulatedTraining, WhoIsFrozenForLongIsLostFromTheBeginningOfIt) {
    const auto killed = simulate(training_of("lazarus", 6, "kill:rank=2@t=30"));
    for (const auto* faults : {"hang:rank=2@t=30", "hang:rank=2@t=30,for=15.5"}) {
        const auto course = simulate(training_of("lazarus", 6, faults));
        ASSERT_TRUE(course.ok) << course.why;
        EXPECT_EQ(course.counts.deaths, 1);
        EXPECT_EQ(course.pauses.spans()[0].from, 30);
        expect_same_steps(course, killed);
    }
}

TEST(SimulatedTraining, AStepThatIsNotFiniteIsMadeAgainAfterARegroup) {
    const auto calm = simulate(training_of("lazarus", 4));
    for (const auto* faults : {"nan:rank=1@t=1", "corrupt:rank=1,target=message@t=1"}) {
        const auto course = simulate(training_of("lazarus", 4, faults));
        ASSERT_TRUE(course.ok) << course.why;
        EXPECT_EQ(course.counts.retries, 1) << faults;
        EXPECT_EQ(course.counts.deaths, 0) << faults;
        const CostModel costs(cluster_profile("lazarus-testbed"));
        const double regroup = costs.cluster().regroup_s.value;
        EXPECT_NEAR(course.pauses.seconds(Pause::reconfiguration, 1e9), regroup, 1e-9);
        EXPECT_NEAR(course.steps[0].start_s, calm.steps[0].end_s + regroup, 1e-9);
        EXPECT_NEAR(length(course.steps[0]), length(calm.steps[0]), 1e-9);
        expect_ordered(course);
    }
}

TEST(SimulatedTraining, WhatCannotBeSimulatedIsRefusedWithAWayOut) {
    for (const auto* faults :
         {"link:rank=1,latency=0.1@t=3", "kill:rank=1@step=2", "nan:rank=0@step=1"}) {
        try {
            simulate(training_of("lazarus", 5, faults));
            ADD_FAILURE() << faults;
        } catch (const NotSupportedHere& error) {
            EXPECT_THAT(error.what(), testing::HasSubstr("--mode emulated"));
        }
    }
}

TEST(SimulatedTraining, TimeIsUpAfterTheStepUnderWay) {
    auto training = training_of("lazarus", 1000);
    training.duration_s = 60;
    const auto course = simulate(training);
    ASSERT_TRUE(course.ok);
    EXPECT_LT(course.steps.back().start_s, 60);
    EXPECT_GE(course.steps.back().end_s, 60);
}

// The protocol's rules know that nodes left over may wait instead of being dropped.
TEST(SimulatedTraining, NodesLeftOverWaitWhereTheSettingsSaySo) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        TraceProcess process;
        process.hours = 0.5;
        process.loss_per_hour = 4;
        process.return_per_hour = 10;
        process.seed = seed;
        const auto nodes =
            map_trace(generate_trace(process), NodeMapping::delta_clamped, 10, 4, seed);
        SpotTraining spot;
        spot.system = "ds_ft";
        spot.workers = nodes.initial_workers;
        spot.duration_s = 1800;
        auto training = modelled_training(spot);
        training.controller.surplus_waits = true;
        training.faults = nodes.faults;
        const auto course = simulate(training);
        ASSERT_TRUE(course.ok) << seed << ": " << course.why;
        EXPECT_THAT(watch_decisions(training.controller, course.decisions), testing::IsEmpty())
            << seed;
    }
}

// Rivals and traces of losses and arrivals, drawn from seeds.
class SimulatedTraces : public testing::TestWithParam<std::string> {};

TEST_P(SimulatedTraces, AnyTraceIsPlayedOutTheSameTwice) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        TraceProcess process;
        process.kind = seed % 2 ? TraceProcess::Kind::poisson : TraceProcess::Kind::bursts;
        process.hours = 0.5;
        process.loss_per_hour = seed % 2 ? 4 : 12;
        process.return_per_hour = 10;
        process.seed = seed;
        const auto nodes =
            map_trace(generate_trace(process), NodeMapping::delta_clamped, 10, 2, seed);
        SpotTraining spot;
        spot.system = GetParam();
        spot.workers = nodes.initial_workers;
        spot.duration_s = 1800;
        spot.seed = seed;
        auto training = modelled_training(spot);
        training.faults = nodes.faults;
        const auto course = simulate(training);
        ASSERT_TRUE(course.ok) << seed << ": " << course.why;
        EXPECT_GT(course.counts.deaths, 0) << seed;
        expect_ordered(course);
        EXPECT_THAT(watch_decisions(training.controller, course.decisions), testing::IsEmpty());
        const auto again = simulate(training);
        EXPECT_EQ(again.lineage, course.lineage);
        ASSERT_EQ(again.steps.size(), course.steps.size());
        for (std::size_t i = 0; i < course.steps.size(); ++i)
            EXPECT_EQ(again.steps[i].end_s, course.steps[i].end_s);
    }
}

INSTANTIATE_TEST_SUITE_P(Systems, SimulatedTraces, testing::ValuesIn(names_of_systems()));

/// Two nodes of 8 GPUs: node 0 holds experts 0 to 31, node 1 the others.
struct DealtNodes {
    ModelledTraining training;
    Reconfigure plan{.epoch = 1, .members = {0, 1}, .training = {0, 1}};
    CostModel costs{cluster_profile("lazarus-simulation")};

    explicit DealtNodes(std::uint64_t routing_seed) {
        training.controller.layers = 1;
        training.controller.experts = 64;
        training.modelling = {.model = modelled_model("deepseek-v3"),
                              .cluster = "lazarus-simulation",
                              .real_layers = 1,
                              .dispatch = {},
                              .gpus_per_worker = 8};
        training.modelling.model.experts = 64;
        training.modelling.real_tokens = training.modelling.model.rows();
        training.routing = {
            .trace = "lognormal:1", .seed = routing_seed, .layers = 1, .experts = 64};
        plan.holders = {Placement(2)};
        for (int expert = 0; expert < 64; ++expert)
            plan.holders[0][expert < 32 ? 0 : 1].push_back(expert);
    }
    double step_s(const std::vector<Loads>& of_plan) {
        ModelledDurations durations(costs, training);
        durations.planned(plan, of_plan);
        return durations.computing(plan, 0, 0);
    }
    /// By a deal that was made from these loads.
    double step_s_dealt_by(const std::vector<Loads>& loads) {
        StepTimeline line(costs, training.modelling,
                          participants_of(plan, {1, 1}, loads, costs, training.modelling));
        line.counted(0,
                     RoutingReplay(training.routing)
                         .at(0)
                         .counts(0, 16, static_cast<std::int64_t>(training.modelling.real_tokens)));
        return line.total();
    }
    std::vector<Loads> of_step() {
        ModelledDurations durations(costs, training);
        durations.planned(plan, {Loads(64, 0)});
        return durations.loads(plan, 0);
    }
};

// What the priced step routes was not known when the replicas were dealt.
TEST(SimulatedTraining, NodesDealByTheLoadsOfTheirPlanAndNotOfTheStep) {
    const std::vector<Loads> of_plan = DealtNodes(1).of_step();
    for (const std::uint64_t seed : {2, 3}) {
        DealtNodes nodes(seed);
        ASSERT_NE(nodes.of_step(), of_plan);
        EXPECT_DOUBLE_EQ(nodes.step_s(of_plan), nodes.step_s_dealt_by(of_plan));
        EXPECT_NE(nodes.step_s(of_plan), nodes.step_s(nodes.of_step()));
        EXPECT_DOUBLE_EQ(nodes.step_s({Loads(64, 0)}), nodes.step_s({Loads(64, 7)}))
            << "none are equal ones";
        nodes.training.modelling.deal = Deal::blocks;
        EXPECT_DOUBLE_EQ(nodes.step_s(of_plan), nodes.step_s(nodes.of_step()))
            << "blocks know no loads";
    }
}

}  // namespace
}  // namespace assay::lazarus
