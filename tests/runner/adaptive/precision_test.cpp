// How many rounds a run takes that was given no number of them.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "suite/runner/adaptive/precise_cases.hpp"
#include "suite/runner/plan.hpp"

namespace assay::runner {
namespace {

TEST(Precision, IsReachedWhenAsManyRoundsAgainWouldAgree) {
    EXPECT_FALSE(is_precise({}, 0.05));
    EXPECT_FALSE(is_precise({1, 1, 1, 1}, 0.05)) << "too few for any interval";
    EXPECT_TRUE(is_precise({1, 1, 1, 1, 1}, 0.05));
    EXPECT_TRUE(is_precise({1, 1.02, 0.99, 1.01, 1, 0.98}, 0.05));
    EXPECT_FALSE(is_precise({1, 1.3, 0.9, 1.2, 0.8, 1.1}, 0.05));
    EXPECT_TRUE(is_precise({1, 1.3, 0.9, 1.2, 0.8, 1.1}, 0.9));
    EXPECT_FALSE(is_precise({0, 0, 0, 0, 0, 0}, 0.05)) << "no ratio";
    EXPECT_FALSE(is_precise({1, 1, std::nan(""), 1, 1, 1}, 0.05));
}

class PreciseCasesTest : public ::testing::Test {
  protected:
    Experiment experiment_;
    std::string axis_ = "n";

    PreciseCasesTest() {
        experiment_.id = "dummy/timed";
        experiment_.variants = {"a", "b"};
        experiment_.metrics = {{"time_s", "s", "", Direction::lower}};
        experiment_.figure.metric = "time_s";
        ProfilePlan toy;
        toy.rounds = 2;
        toy.seconds_per_sample = 3;
        experiment_.profiles = {toy};
    }

    Plan plan(int rounds) {
        Plan plan;
        for (const std::int64_t n : {1, 2})
            for (int round = 0; round < rounds; ++round)
                for (const std::string& variant : experiment_.variants) {
                    PlannedSample planned{.experiment = &experiment_};
                    planned.spec.experiment = experiment_.id;
                    planned.spec.axes[axis_] = n;
                    planned.spec.variant = variant;
                    planned.spec.round = round;
                    plan.samples.push_back(planned);
                }
        return plan;
    }

    /// Samples that are run of each case; `noise`: of case 1; case 2 has none.
    std::map<std::int64_t, int> run(int rounds, double noise, const PrecisionOptions& options) {
        const Plan all = plan(rounds);
        PreciseCases cases(all, options);
        std::map<std::int64_t, int> ran;
        for (const PlannedSample& planned : all.samples) {
            if (cases.turn(planned.spec) != CaseRounds::Turn::run) continue;
            const auto n = std::get<std::int64_t>(planned.spec.axes.at(axis_));
            ++ran[n];
            store::Sample sample;
            sample.spec = planned.spec;
            sample.status = "ok";
            sample.seconds = 3;
            const double off = planned.spec.round % 2 == 0 ? 1 : 1 + noise;
            sample.metrics = {{"time_s", {}, n == 1 ? off : 1}};
            cases.add(sample);
        }
        return ran;
    }
    using Ran = std::map<std::int64_t, int>;
};

TEST_F(PreciseCasesTest, ACaseEndsByItsOwnNoise) {
    EXPECT_EQ(run(12, 0.01, {}), (Ran{{1, 2 * 5}, {2, 2 * 5}}));
    EXPECT_EQ(run(12, 0.5, {}), (Ran{{1, 2 * 12}, {2, 2 * 5}}));
    EXPECT_EQ(run(12, 0.5, {.share = 1.1}), (Ran{{1, 2 * 5}, {2, 2 * 5}}));
}

TEST_F(PreciseCasesTest, TheProfilesRoundsAreRunInAnyCase) {
    EXPECT_EQ(run(12, 0.5, {.budget_s = 1e-6}), (Ran{{1, 2 * 2}, {2, 2 * 2}}));
    EXPECT_EQ(run(2, 0, {}), (Ran{{1, 2 * 2}, {2, 2 * 2}})) << "as many as are planned";
    EXPECT_EQ(run(12, 0.5, {.budget_s = 12 * 6 + 12}), (Ran{{1, 2 * 7}, {2, 2 * 5}}))
        << "what a case leaves over the next has";
}

TEST_F(PreciseCasesTest, MoreRoundsWhereTheyTellMoreAndWhileThereIsTime) {
    const ProfilePlan& toy = experiment_.profiles.front();
    EXPECT_TRUE(gains_by_rounds(experiment_, toy, Provenance::measured));
    EXPECT_FALSE(gains_by_rounds(experiment_, toy, Provenance::simulated));
    EXPECT_EQ(most_rounds(toy, Provenance::measured, 1, {}), 100);
    EXPECT_EQ(most_rounds(toy, Provenance::measured, 4, {}), 50);
    EXPECT_EQ(most_rounds(toy, Provenance::measured, 20, {}), 10) << "of a minute each";
    EXPECT_EQ(most_rounds(toy, Provenance::measured, 2000, {}), 2) << "the profile's";
    experiment_.metrics.front().deterministic = true;
    EXPECT_FALSE(gains_by_rounds(experiment_, toy, Provenance::measured));
    experiment_.metrics.front().deterministic = false;
    experiment_.profiles.front().side_by_side = true;
    EXPECT_FALSE(gains_by_rounds(experiment_, toy, Provenance::measured));
}

}  // namespace
}  // namespace assay::runner
