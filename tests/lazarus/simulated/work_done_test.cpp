// What of a training counts: the table's totals and the curve that is drawn are the same work.
#include <gtest/gtest.h>

#include <numeric>

#include "impls/lazarus/spot/spot_training.hpp"

namespace assay::lazarus {
namespace {

/// Steps of 30 s by two workers one after the other; `lineage` is how many count at the end.
TrainingCourse trained(const std::vector<Step>& steps, std::size_t lineage) {
    TrainingCourse result;
    double now = 0;
    for (const Step step : steps) {
        result.steps.push_back(
            {.step = step, .start_s = now, .end_s = now + 30, .workers = 2, .loss = 0});
        now += 30;
    }
    result.lineage.resize(lineage);
    return result;
}

double drawn(const RateCurve& curve) {
    return 60 * std::accumulate(curve.per_s().begin(), curve.per_s().end(), 0.0);
}

TEST(WorkDone, OfAStepThatWasMadeTwiceTheLastTryCounts) {
    const TrainingCourse result = trained({0, 1, 2, 3, 2, 3, 4}, 5);
    const auto kept = kept_steps(result, 600);
    ASSERT_EQ(kept.size(), 5U);
    EXPECT_EQ(kept[2].start_s, 120);
    EXPECT_EQ(kept_steps(result, 200).size(), 4U);  // the last one ends at 210 s
}

TEST(WorkDone, WhatTheLastRestartUndidDoesNotCount) {
    EXPECT_EQ(kept_steps(trained({0, 1, 2, 3}, 2), 600).size(), 2U);
    EXPECT_EQ(kept_steps(trained({0, 1, 2, 3, 2}, 3), 600).size(), 3U);
}

TEST(WorkDone, TheCurveOfWhatCountsAddsUpToTheTotal) {
    const TrainingCourse result = trained({0, 1, 2, 3, 2, 3, 4}, 5);
    const auto kept = kept_steps(result, 600);
    EXPECT_NEAR(drawn(rate_of(kept, 10, 600)), 5 * 2 * 10, 1e-9);
    EXPECT_NEAR(drawn(rate_of(result.steps, 10, 600)), 7 * 2 * 10, 1e-9);
    const RateCurve curve = rate_of(kept, 10, 600);
    EXPECT_EQ(curve.t_s().front(), 30);
    EXPECT_EQ(curve.per_s()[1], 0);  // minute 1 to 2 held the steps that were undone
    EXPECT_NEAR(curve.per_s()[0], 2 * 10 / 30.0, 1e-12);
}

TEST(WorkDone, WorkersAreAveragedOverTheTimeOfSteps) {
    TrainingCourse result = trained({0, 1}, 2);
    result.steps[1].workers = 4;
    EXPECT_EQ(mean_workers(result.steps, 600), 3);
    EXPECT_EQ(mean_workers(result.steps, 30), 2);
    EXPECT_EQ(mean_workers({}, 600), 0);
}

}  // namespace
}  // namespace assay::lazarus
