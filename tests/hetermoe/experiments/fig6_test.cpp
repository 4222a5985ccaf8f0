// Fig. 6 as an experiment, exactly.
#include <gtest/gtest.h>

#include <string>

#include "impls/hetermoe/experiments/experiments.hpp"
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

}  // namespace
}  // namespace assay::hetermoe
