// What is left of a session, by a clock that the test sets.
#include "suite/runner/progression.hpp"

#include <gtest/gtest.h>

namespace assay::runner {
namespace {

class ProgressionTest : public ::testing::Test {
  protected:
    PlannedSample& plan_sample(const std::string& experiment, const std::string& variant,
                               double seconds) {
        PlannedSample sample;
        sample.experiment = nullptr;
        sample.spec.experiment = experiment;
        sample.spec.variant = variant;
        sample.seconds = seconds;
        plan.samples.push_back(sample);
        return plan.samples.back();
    }
    Progression make() {
        return Progression(plan, listener, [this] { return now; });
    }
    /// Runs the sample for `seconds`.
    void run(Progression& at, std::size_t i, double seconds) {
        at.started(plan.samples[i]);
        now += seconds;
        store::Sample result;
        result.status = "ok";
        result.seconds = seconds;
        at.finished(plan.samples[i], result);
    }

    Plan plan;
    Listener listener;
    double now = 100;
};

TEST_F(ProgressionTest, EstimatesComeFirstThenWhatTheSameCaseTook) {
    plan_sample("a/x", "slow", 10);
    plan_sample("a/x", "fast", 10);
    plan_sample("a/x", "slow", 10);
    plan_sample("a/x", "fast", 10);
    Progression at = make();
    EXPECT_EQ(at.eta_s(), 40);
    run(at, 0, 30);
    EXPECT_EQ(at.eta_s(), 30 + 30 + 30) << "the others of the experiment are as wrong";
    run(at, 1, 1);
    EXPECT_EQ(at.eta_s(), 30 + 1);
    run(at, 2, 30);
    run(at, 3, 1);
    EXPECT_EQ(at.eta_s(), 0);
}

TEST_F(ProgressionTest, OfSamplesThatAreRunTwice) {
    plan_sample("a/x", "v", 10);
    plan_sample("a/x", "v", 10);
    Progression at(
        plan, listener, [this] { return now; }, 2);
    EXPECT_EQ(at.eta_s(), 40);
    run(at, 0, 20);
    run(at, 0, 20);
    EXPECT_EQ(at.eta_s(), 40);
    at.saved(plan.samples[1]);
    EXPECT_EQ(at.saved(), 1);
    run(at, 1, 20);
    EXPECT_EQ(at.eta_s(), 0);
}

TEST_F(ProgressionTest, WhatRunsBesideThePlanTakesTimeAndCountsForNothing) {
    plan_sample("a/x", "v", 10);
    plan_sample("a/x", "v", 10);
    Plan control;
    control.samples = {plan.samples[0], plan.samples[0]};
    for (PlannedSample& sample : control.samples) sample.spec.experiment = "b/control";
    std::vector<Notice> told;
    const Listener tell = [&](const Notice& notice) { told.push_back(notice); };
    Progression at(plan, tell, [this] { return now; });
    at.beside(control);
    EXPECT_EQ(at.eta_s(), 40);
    run(at, 0, 10);
    at.started(control.samples[0]);
    now += 4;
    EXPECT_EQ(at.eta_s(), 10 + 6 + 10) << "it counts down while it runs";
    store::Sample result;
    result.status = "failed";
    result.seconds = 4;
    at.finished(control.samples[0], result);
    EXPECT_EQ(at.eta_s(), 10 + 4);
    at.saved(control.samples[1]);
    EXPECT_EQ(at.saved(), 0);
    run(at, 1, 10);
    EXPECT_EQ(at.eta_s(), 0);
    at.tell("finished", nlohmann::json::object());
    EXPECT_EQ(told.back().done, 2);
    EXPECT_EQ(told.back().planned, 2);
    EXPECT_EQ(told.back().failed, 0);
}

TEST_F(ProgressionTest, OtherExperimentsErrByTheSameSecondsUntilTheyAreKnown) {
    plan_sample("a/x", "v", 0.1);
    plan_sample("b/y", "v", 100);
    Progression at = make();
    run(at, 0, 0.6);
    EXPECT_NEAR(at.eta_s(), 100.5, 1e-9);
}

TEST_F(ProgressionTest, TheRunningSampleCountsDown) {
    plan_sample("a/x", "v", 60);
    Progression at = make();
    at.started(plan.samples[0]);
    now += 20;
    EXPECT_EQ(at.eta_s(), 40);
    // Resumed at a half: its pace since then counts, not since the start of the process.
    at.tell("progress", {{"fraction", 0.5}, {"what", "step"}});
    now += 10;
    at.tell("progress", {{"fraction", 0.6}, {"what", "step"}});
    EXPECT_NEAR(at.eta_s(), 40, 1e-9);
    now += 30;
    at.tell("progress", {{"fraction", 0.9}, {"what", "step"}});
    EXPECT_NEAR(at.eta_s(), 10, 1e-9);
    now += 1000;
    EXPECT_GE(at.eta_s(), 0);
}

TEST_F(ProgressionTest, WhatNeedNotBeRunIsNotWaitedFor) {
    for (int i = 0; i < 3; ++i) plan_sample("a/x", "v", 5);
    long planned = 0, done = 0;
    listener = [&](const Notice& notice) {
        planned = notice.planned;
        done = notice.done;
    };
    Progression at = make();
    at.passed_over(plan.samples[0], "failed");
    at.saved(plan.samples[1]);
    EXPECT_EQ(at.eta_s(), 5);
    at.tell("event", {});
    EXPECT_EQ(planned, 2);
    EXPECT_EQ(done, 1);
    EXPECT_EQ(at.saved(), 1);
}

}  // namespace
}  // namespace assay::runner
