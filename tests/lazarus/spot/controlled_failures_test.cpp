// Who fails in controlled failures: once each, alike for everyone, idle nodes first where asked.
#include "impls/lazarus/spot/controlled_failures.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <variant>
#include <vector>

#include "impls/lazarus/spot/assumed_inputs.hpp"
#include "impls/lazarus/spot/fig9_course.hpp"
#include "impls/lazarus/spot/spot_training.hpp"
#include "suite/drive/simulated/event_queue.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::lazarus {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(ControlledFailures, EachVictimOnceAtFixedIntervals) {
    const ControlledFailures failures{.nodes = 10, .left = 5, .every_s = 300};
    const FaultPlan plan = random_victims(failures, 7);
    validate(plan, failures.nodes);
    std::set<int> victims;
    double at_s = 0;
    for (const Fault& fault : plan.faults) {
        EXPECT_EQ(fault.kind, FaultKind::kill);
        EXPECT_EQ(*fault.t_s, at_s += 300);
        victims.insert(*fault.rank);
    }
    EXPECT_EQ(victims.size(), 5U);
    EXPECT_EQ(failures.duration_s(), 1800);
    EXPECT_EQ(plan, random_victims(failures, 7));
    EXPECT_NE(plan, random_victims(failures, 8));
}

// Sixteen nodes in groups of two: every second failure finds one idle.
TEST(ControlledFailures, IdleNodesFailFirst) {
    const ControlledFailures failures{.nodes = 16, .left = 8, .every_s = 300};
    SpotTraining settings;
    settings.system = "ds_ft";
    settings.workers = failures.nodes;
    settings.modelled_steps = 50;
    ModelledTraining rival = modelled_training(settings);
    const CostModel costs(cluster_profile("lazarus-testbed"));
    rival.faults = idle_first_victims(failures, rival, costs, 3);
    ASSERT_EQ(rival.faults.faults.size(), 8U);
    validate(rival.faults, failures.nodes);

    rival.duration_s = failures.duration_s();
    drive::EventQueue time;
    MemoryRecorder recorder;
    const auto course = simulate_training(rival, costs, time, recorder);
    ASSERT_TRUE(course.ok) << course.why;
    std::vector<int> training;
    for (const auto& [at, workers] : course.workers)
        if (training.empty() || training.back() != workers) training.push_back(workers);
    EXPECT_THAT(training, ::testing::ElementsAre(16, 14, 12, 10, 8))
        << "it notices every second failure alone";
}

TEST(AssumedInputs, EveryChoiceOfEndsOnce) {
    const auto corners = corners_of_ranges({{"overlap", 0.5}});
    EXPECT_EQ(corners.size(), 16U);
    EXPECT_EQ(std::set<AssumedValues>(corners.begin(), corners.end()).size(), 16U);
    for (const AssumedValues& corner : corners) EXPECT_EQ(corner.at("overlap"), 0.5);
}

TEST(AssumedInputs, TakeTheProfilesPlaceAndNothingElse) {
    const CostModel usual(cluster_profile("lazarus-testbed"));
    EXPECT_EQ(costs_with("lazarus-testbed", {}).to_json(), usual.to_json());
    const CostModel other = costs_with("lazarus-testbed", {{"detect_s", 12}, {"overlap", 1}});
    EXPECT_EQ(other.cluster().detect_s.value, 12);
    EXPECT_EQ(other.cluster().regroup_s, usual.cluster().regroup_s);
    EXPECT_THAT(
        [] {
            costs_with("lazarus-testbed", {{"link_efficiency", 1.2}});
        },
        ThrowsMessage<UserError>(HasSubstr("axis link_efficiency: 1.2 is no share")));
}

// Whatever an end of a range is, the profile's own value lies between the two.
TEST(AssumedInputs, RangesHoldWhatTheProfilesSay) {
    for (const char* id : {"lazarus-testbed", "lazarus-aws"}) {
        const CostModel costs(cluster_profile(id));
        const std::map<std::string, double> said{
            {"detect_s", costs.cluster().detect_s.value},
            {"regroup_s", costs.cluster().regroup_s.value},
            {"link_efficiency", costs.cluster().link_efficiency.value},
            {"matmul_efficiency", costs.device(0).matmul_efficiency.value},
            {"overlap", 0}};
        for (const AssumedInput& input : assumed_inputs()) {
            EXPECT_GE(said.at(input.name), input.low) << id << ' ' << input.name;
            EXPECT_LE(said.at(input.name), input.high) << id << ' ' << input.name;
        }
    }
}

// A course without a restart and one with two, as fig6 to fig14 record them.
TEST(TrainingCourse, ARunWithoutARestartRecordsItsEnd) {
    SpotTraining training;
    training.duration_s = 80 * 60;
    training.seed = 7;
    const auto minutes = [&](const std::vector<double>& restarts_s) {
        TrainingCourse course;
        course.restarts = restarts_s;
        MemoryRecorder recorder;
        record_course(course, training, {}, recorder);
        std::map<std::int64_t, double> found;
        for (const auto& metric : recorder.metrics)
            if (metric.name == "restart_min") {
                EXPECT_EQ(metric.labels.at("draw"), Value(std::int64_t{7}));
                found[std::get<std::int64_t>(metric.labels.at("event"))] = metric.value;
            }
        return found;
    };
    EXPECT_EQ(minutes({}), (std::map<std::int64_t, double>{{0, 80}}));
    EXPECT_EQ(minutes({34 * 60, 51 * 60}), (std::map<std::int64_t, double>{{0, 34}, {1, 51}}));
}

}  // namespace
}  // namespace assay::lazarus
