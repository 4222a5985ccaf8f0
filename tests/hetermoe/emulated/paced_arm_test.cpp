// Arms as steps for paced processes last as long as they are simulated to, point by point.
#include "impls/hetermoe/emulated/paced_arm.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "impls/hetermoe/experiments/paper_experiment.hpp"

namespace assay::hetermoe {
namespace {

// Nothing is late.
PacedRun planned(const PacedPlan& plan) {
    PacedRun run;
    for (const PacedStep& step : plan.steps) {
        run.steps.emplace_back().runs = planned_runs(step);
        run.steps.back().length_s = makespan_s(run.steps.back().runs);
    }
    return run;
}

TEST(HetermoePacedArm, LastsAsLongAsItIsSimulatedTo) {
    setenv("ASSAY_DATASETS", ASSAY_TEST_DATASETS, 1);
    int compared = 0;
    for (const char* panel : {"d1-o1", "w1-o1", "w2-o2", "d2-o3"})
        for (const double k : {8, 24})
            for (const Calibration calibration : {Calibration::sheet, Calibration::anchored}) {
                Point point = panel_point(panel);
                point.tokens = 1024 * k;
                point.calibration = calibration;
                point.batch = 4;
                for (const Arm arm : {Arm::zebra, Arm::hetermoe, Arm::search, Arm::dist_ep, Arm::ep,
                                      Arm::ep_ideal}) {
                    ASSERT_TRUE(can_be_paced(arm));
                    const auto simulated = run_arm(point, arm);
                    if (!simulated) continue;  // no room for W2 with long sequences
                    const PacedArm paced = paced_arm(point, arm, *simulated, 2);
                    std::vector<PacedRun> runs;
                    for (const PacedPlan& plan : paced.plans()) {
                        runs.push_back(planned(plan));
                        EXPECT_NEAR(runs.back().steps[0].length_s * plan.scale, 2, 1e-9);
                    }
                    const ArmResult result = paced.result(runs);
                    SCOPED_TRACE(std::string(panel) + " " + std::string(to_string(arm)));
                    EXPECT_NEAR(result.tokens_per_s / simulated->tokens_per_s, 1, 1e-6);
                    EXPECT_EQ(result.new_busy.has_value(), simulated->new_busy.has_value());
                    if (result.new_busy) {
                        EXPECT_NEAR(*result.new_busy, *simulated->new_busy, 1e-6);
                        EXPECT_NEAR(*result.old_busy, *simulated->old_busy, 1e-6);
                    }
                    ++compared;
                }
            }
    EXPECT_GT(compared, 80);
    EXPECT_FALSE(can_be_paced(Arm::pp));
}

}  // namespace
}  // namespace assay::hetermoe
