// Fig. 6 as an experiment, exactly.
#include <gtest/gtest.h>

#include <string>

#include "impls/hetermoe/experiments/experiments.hpp"
#include "impls/hetermoe/experiments/fig6_example.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::hetermoe {
namespace {

MemoryRecorder at(double expert_on_new, const std::string& variant) {
    const Experiment experiment = fig6();
    SampleSpec spec;
    spec.experiment = experiment.id;
    spec.variant = variant;
    spec.axes = {{"expert_on_new", expert_on_new}};
    MemoryRecorder recorder;
    experiment.run(spec, recorder);
    return recorder;
}

// The paper's Fig. 6; by hand, makespans are 7.75 + T_X with an expert moved in every layer.
TEST(HetermoeFig6, GivesThePapersNumbersAtTwoDifferentTimes) {
    EXPECT_EQ(at(0.8, "zebra").value("makespan"), 9.75);
    EXPECT_EQ(at(0.8, "zebra").value("attention_idle"), 3.0);
    EXPECT_EQ(at(0.8, "zebra").value("expert_bubbles"), 0.0);
    EXPECT_EQ(at(0.8, "hetermoe").value("makespan"), 8.75);
    EXPECT_DOUBLE_EQ(at(0.8, "hetermoe").value("attention_idle"), 1.2);
    EXPECT_EQ(at(0.8, "hetermoe").value("offload", {{"layer", std::int64_t{1}}}), 0);
    EXPECT_EQ(at(0.8, "hetermoe").value("offload", {{"layer", std::int64_t{3}}}), 1);
    EXPECT_EQ(at(0.8, "all_layers").value("makespan"), 8.55);
    EXPECT_EQ(at(1.0, "all_layers").value("makespan"), 8.75);
    EXPECT_EQ(at(1.0, "all_layers").value("expert_bubbles"), 0.0625);
    // 60 % less idle at 0.8 alone; no gain from layer 1 from 1.0 on.
    for (const double t : {0.7, 0.75, 0.9, 1.0, 1.1}) {
        EXPECT_NEAR(at(t, "hetermoe").value("attention_idle"), 2 - t, 1e-9) << t;
        EXPECT_EQ(at(t, "all_layers").value("makespan") >= 8.75, t >= 1) << t;
    }
    EXPECT_THROW(at(0, "zebra"), UserError);
    EXPECT_THROW(at(-1, "zebra"), UserError);
}

// What two processes are given is the exact example, whose lateness decides on nothing else.
TEST(HetermoeFig6, ProcessesGetTheSameExample) {
    for (const auto& [moves, makespan] : {std::pair(Fig6Moves::zebra, 9.75),
                                          {Fig6Moves::hetermoe, 8.75},
                                          {Fig6Moves::all_layers, 8.55}}) {
        const std::string variant(to_string(moves));
        const PacedPlan plan = fig6_plan({.expert_on_new = 0.8, .moves = moves});
        const auto runs = planned_runs(plan.steps.front());
        EXPECT_NEAR(makespan_s(runs), makespan, 1e-9) << variant;
        MemoryRecorder recorder;
        record_fig6(runs, Fig6Found(recorder));
        EXPECT_NEAR(recorder.value("makespan"), at(0.8, variant).value("makespan"), 1e-9);
        EXPECT_NEAR(recorder.value("attention_idle"), at(0.8, variant).value("attention_idle"),
                    1e-9);
        EXPECT_NEAR(recorder.value("expert_bubbles"), at(0.8, variant).value("expert_bubbles"),
                    1e-9);
    }
}

// The gate is tight enough for both claims: lateness alone cannot take a ratio out of its margin.
TEST(HetermoeFig6, LatenessThatPassesCannotTurnAVerdict) {
    const auto most = [](Fig6Moves moves, double makespan) {
        const PacedPlan plan = fig6_plan({.expert_on_new = 0.8, .moves = moves});
        return makespan / (1 - plan.most_late) - makespan;
    };
    const double zebra = most(Fig6Moves::zebra, 9.75), hetermoe = most(Fig6Moves::hetermoe, 8.75);
    EXPECT_LE((8.75 + hetermoe) / 9.75, 0.91);
    EXPECT_GE(8.75 / (9.75 + zebra), 0.89);
    EXPECT_LE((1.2 + hetermoe) / 3, 0.42);
    EXPECT_GE(1.2 / (3 + zebra), 0.38);
}

}  // namespace
}  // namespace assay::hetermoe
