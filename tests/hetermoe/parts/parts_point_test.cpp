// Which parts stand for which GPUs, and what profile gpu says where there is none.
#include "impls/hetermoe/parts/parts_point.hpp"

#include <gmock/gmock.h>

#include "impls/hetermoe/experiments/experiments.hpp"
#include "impls/hetermoe/experiments/paper_experiment.hpp"

namespace assay::hetermoe {
namespace {

using testing::HasSubstr;

class PartsPoints : public ::testing::Test {
  protected:
    PartsPoints() { setenv("ASSAY_DATASETS", ASSAY_TEST_DATASETS, 1); }

    static Point at(Point point) {
        point.tokens = 4096;
        return point;
    }
};
using PartsExperiments = PartsPoints;

TEST_F(PartsPoints, KeepsTheRatioOfGpus) {
    const auto parts = [](const char* panel) { return parts_for(at(panel_point(panel))).parts; };
    EXPECT_EQ(parts("d1-o1"), (Group{1, 1}));
    EXPECT_EQ(parts("w2-o2"), (Group{1, 2}));
    EXPECT_EQ(parts("d2-o3"), (Group{2, 1}));
    EXPECT_EQ(parts("d1-c1"), (Group{1, 3}));
    for (const char* const panel : {"d1-o1", "w2-o2", "d2-o3", "d1-c1"}) {
        const Point point = at(panel_point(panel));
        const PartsPoint part = parts_for(point);
        EXPECT_EQ(part.groups * part.parts.attention, point.new_gpus.gpus) << panel;
        EXPECT_EQ(part.groups * part.parts.expert, point.old_gpus.gpus) << panel;
    }
    // As they are, where they are few.
    EXPECT_EQ(parts_for(at(point_on(model_shape("d1"), "hetermoe-on-premise", "a40", 2, "v100", 2)))
                  .parts,
              (Group{2, 2}));
    EXPECT_EQ(parts_for(at(point_on(model_shape("d1"), "hetermoe-on-premise", "a40", 2, "v100", 2)))
                  .groups,
              1);
}

TEST_F(PartsPoints, OldPartsLackWhatOldGpusLack) {
    const PartsPoint on_premise = parts_for(at(panel_point("d1-o1")));
    EXPECT_EQ(on_premise.unit, (Group{5, 4}));
    EXPECT_TRUE(on_premise.new_fused);
    EXPECT_FALSE(on_premise.old_fused);
    EXPECT_EQ(on_premise.model.layers, 4);
    EXPECT_EQ(parts_for(at(panel_point("d1-c1"))).unit, (Group{7, 1}));
    EXPECT_TRUE(
        parts_for(at(point_on(model_shape("d1"), "hetermoe-on-premise", "a40", 2, "a40", 2)))
            .old_fused);
}

SampleSpec measured(const Experiment& experiment, const std::string& variant) {
    SampleSpec spec;
    spec.experiment = experiment.id;
    spec.variant = variant;
    spec.profile = Profile::gpu;
    spec.provenance = Provenance::measured;
    spec.axes = {
        {"panel", std::string("d1-o1")}, {"sequence", std::int64_t{4}}, {"batch", std::int64_t{4}}};
    return spec;
}

TEST_F(PartsExperiments, AreMeasuredAtProfileGpuWithoutCalibration) {
    for (const Experiment& experiment :
         {fig7(), fig8(), fig9(), fig10(), fig11(), fig12(), tab3()}) {
        const ProfilePlan* const gpu = experiment.plan(Profile::gpu);
        ASSERT_NE(gpu, nullptr) << experiment.id;
        EXPECT_EQ(gpu->provenances, std::vector{Provenance::measured});
        EXPECT_FALSE(gpu->variants.empty());
        EXPECT_TRUE(gpu->uses_gpus());
        EXPECT_NE(experiment.metric("experts_ratio"), nullptr);
    }
    EXPECT_EQ(x_sensitivity().plan(Profile::gpu), nullptr);
    const Experiment figure = fig9();
    figure.validate(measured(figure, "hetermoe"));
    EXPECT_TRUE(figure.calibration(measured(figure, "hetermoe")).is_null());
}

TEST_F(PartsExperiments, AnArmWithoutSuchAVersionSaysSo) {
    const Experiment figure = fig9();
    EXPECT_THAT(figure.unsupported(measured(figure, "pp")).value_or(""),
                HasSubstr("pp has no version for parts of a GPU"));
    for (const std::string& variant : figure.plan(Profile::gpu)->variants)
        EXPECT_TRUE(has_parts_version(of_word<Arm>(variant).value())) << variant;
}

}  // namespace
}  // namespace assay::hetermoe
