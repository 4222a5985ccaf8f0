// Undisturbed trainings in closed form, and what the paper's rates imply for the cost model.
#include "impls/lazarus/spot/steady_rate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "impls/lazarus/spot/anchors.hpp"
#include "impls/lazarus/spot/spot_training.hpp"
#include "suite/base/datasets.hpp"
#include "suite/base/error.hpp"

namespace assay::lazarus {
namespace {

using ::testing::HasSubstr;

const CostModel& costs() {
    static const CostModel model(cluster_profile("lazarus-testbed"));
    return model;
}

SpotTraining spot(const std::string& system, double overlap = 0) {
    SpotTraining training;
    training.system = system;
    training.model = "gpt-m";
    training.steps = 13;  // rebalanced after 4, 8 and 12
    training.overlap = overlap;
    return training;
}

TEST(SteadyRate, IsThatOfASimulationThatNothingDisturbs) {
    for (const char* system : {"lazarus", "spread", "ds", "ds_ft"}) {
        for (const double overlap : {0.0, 0.4, 1.0}) {
            SCOPED_TRACE(std::string(system) + ' ' + std::to_string(overlap));
            const ModelledTraining training = modelled_training(spot(system, overlap));
            MemoryRecorder recorder;
            double seconds = 0, sequences = 0;
            for (const auto& step : simulate_training(training, recorder).steps) {
                seconds += step.end_s - step.start_s;
                sequences += samples_of(step, training.modelling);
            }
            const SteadyCost cost =
                steady_cost(costs(), training.modelling, steady_steps(training, 13));
            EXPECT_DOUBLE_EQ(cost.sequences, sequences);
            EXPECT_NEAR(cost.rate(overlap), sequences / seconds, 1e-9 * cost.rate(overlap));
        }
    }
}

TEST(SteadyRate, GrowsWithTheOverlapAndTellsTheOverlapOfARate) {
    const auto training = modelled_training(spot("lazarus"));
    const SteadyCost cost = steady_cost(costs(), training.modelling, steady_steps(training, 5));
    EXPECT_LT(cost.rate(0), cost.rate(0.5));
    EXPECT_LT(cost.rate(0.5), cost.rate(1));
    EXPECT_NEAR(cost.overlap_for(cost.rate(0.3)), 0.3, 1e-12);
    EXPECT_LT(cost.overlap_for(0.9 * cost.rate(0)), 0) << "slower than without any";
    EXPECT_GT(cost.overlap_for(1.1 * cost.rate(1)), 1) << "faster than with all";
}

TEST(SteadyRate, RivalsUseWholeGroupsOfNodesOnly) {
    SpotTraining large = spot("ds");
    large.model = "gpt-l";  // groups of 4
    const auto training = modelled_training(large);
    const auto steps = steady_steps(training, 1);
    EXPECT_DOUBLE_EQ(steady_cost(costs(), training.modelling, steps).sequences, 8 * 4 * 25);
}

// ---- anchors -----------------------------------------------------------------------------------

TEST(Anchors, AreTheTwoRatesOfFigure7) {
    const auto claims = read_claims(datasets_dir() / "claims" / "lazarus.toml");
    const std::vector<Anchor> anchors = anchors_among(claims);
    ASSERT_EQ(anchors.size(), 2U);
    EXPECT_EQ(anchors[0].claim, "lazarus/fig7/gpt-m/lazarus-rate");
    EXPECT_EQ(anchors[0].rate, 45);
    EXPECT_EQ(anchors[1].system, "ds");
    EXPECT_EQ(anchors[1].rate, 34);
    try {
        anchors_among({});
        FAIL();
    } catch (const UserError& error) {
        EXPECT_THAT(error.what(), HasSubstr("lazarus/fig7/gpt-m/lazarus-rate"));
    }
}

AnchoredTraining anchored(const char* system, double rate) {
    return {{"a claim", system, rate}, cluster_profile("lazarus-testbed"), "synthetic"};
}

// A training and the rate that it has at these shares. How many steps there are follows from the
// rate, so that a few rounds are needed until they agree.
AnchoredTraining with_rate_at(const char* system, const Shares& shares, double overlap) {
    double rate = 40;
    for (int i = 0; i < 5; ++i) rate = anchored(system, rate).cost(shares).rate(overlap);
    return anchored(system, rate);
}

TEST(Anchors, SharesAreFoundThatAPairOfRatesCameFrom) {
    const Shares truth{0.3, 0.6};
    for (const double overlap : {0.0, 0.5, 1.0}) {
        const auto found = shares_for(with_rate_at("lazarus", truth, overlap),
                                      with_rate_at("ds", truth, overlap), overlap);
        ASSERT_TRUE(found) << overlap;
        EXPECT_NEAR(found->matmul, truth.matmul, 1e-6);
        EXPECT_NEAR(found->link, truth.link, 1e-6);
    }
}

TEST(Anchors, EveryOverlapHasItsShareThatMeetsOneOfThem) {
    const AnchoredTraining ds = anchored("ds", 34);
    double before_matmul = 1, before_link = 1;
    for (const double overlap : {0.0, 0.5, 1.0}) {
        const auto matmul = ds.matmul_for(overlap), link = ds.link_for(overlap);
        ASSERT_TRUE(matmul && link);
        EXPECT_NEAR(ds.cost({*matmul, ds.shipped().link}).rate(overlap), 34, 1e-6);
        EXPECT_NEAR(ds.cost({ds.shipped().matmul, *link}).rate(overlap), 34, 1e-6);
        EXPECT_LT(*matmul, before_matmul) << "the more is hidden, the slower computing may be";
        EXPECT_LT(*link, before_link);
        before_matmul = *matmul, before_link = *link;
    }
    EXPECT_FALSE(anchored("ds", 340).matmul_for(1)) << "not even at its peak";
}

// What impls/lazarus/FINDINGS.md says of the profile that is shipped.
TEST(Anchors, DoNotAgreeOnAnOverlap) {
    const AnchoredTraining lazarus = anchored("lazarus", 45), ds = anchored("ds", 34);
    EXPECT_LT(lazarus.cost(lazarus.shipped()).overlap_for(45), 0);
    const double of_ds = ds.cost(ds.shipped()).overlap_for(34);
    EXPECT_GT(of_ds, 0.5);
    EXPECT_LT(of_ds, 0.6);
    for (const double overlap : {0.0, 0.5, 1.0})
        EXPECT_FALSE(shares_for(lazarus, ds, overlap)) << overlap;
}

}  // namespace
}  // namespace assay::lazarus
