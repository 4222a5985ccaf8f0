// Recovery probabilities: published and independently computed values, plain enumeration as the
// oracle, and the three ways of counting against one another.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>

#include "impls/lazarus/policy/plan/allocation.hpp"
#include "impls/lazarus/policy/plan/holder_sets.hpp"
#include "impls/lazarus/policy/plan/placement.hpp"
#include "impls/lazarus/policy/plan/recovery_probability.hpp"
#include "suite/base/error.hpp"

namespace assay::lazarus {
namespace {

double binomial(int n, int k) {
    double value = 1;
    for (int i = 1; i <= k; ++i) value = value * (n - k + i) / i;
    return std::round(value);
}

// By definition: for every set of failed nodes, look whether every expert is still on a live node.
std::vector<double> by_definition(const ModelPlacement& model, int experts) {
    const int nodes = static_cast<int>(model[0].size());
    std::vector<double> curve(static_cast<std::size_t>(nodes) + 1, 0);
    for (unsigned failed = 0; failed < (1U << nodes); ++failed) {
        bool survives = true;
        for (const Placement& layer : model) {
            for (int e = 0; e < experts && survives; ++e) {
                bool alive = false;
                for (int n = 0; n < nodes; ++n) {
                    const auto& node = layer[static_cast<std::size_t>(n)];
                    alive = alive || ((failed >> n & 1U) == 0 &&
                                      std::find(node.begin(), node.end(), e) != node.end());
                }
                survives = alive;
            }
        }
        const int k = std::popcount(failed);
        if (survives) curve[static_cast<std::size_t>(k)] += 1 / binomial(nodes, k);
    }
    return curve;
}

void expect_near(const std::vector<double>& got, const std::vector<double>& wanted,
                 double tolerance) {
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t k = 0; k < got.size(); ++k)
        EXPECT_NEAR(got[k], wanted[k], tolerance) << "k = " << k;
}

ModelPlacement random_model(std::mt19937_64& random, int nodes, int slots, int experts,
                            int layers) {
    ModelPlacement model;
    for (int l = 0; l < layers; ++l) {
        Loads loads(static_cast<std::size_t>(experts));
        for (Tokens& t : loads) t = static_cast<Tokens>(1 + random() % 1000);
        const auto policy = static_cast<PlacementPolicy>(random() % 3);
        model.push_back(
            place(policy, allocate(loads, nodes, slots, 2).replicas, nodes, slots, loads));
    }
    return model;
}

// Surviving sets of 1 … 6 failed nodes out of ten, with one expert per group of nodes.
std::vector<long> survivors_of_groups(const std::vector<int>& sizes) {
    Placement placement(10);
    std::size_t node = 0;
    for (std::size_t g = 0; g < sizes.size(); ++g) {
        for (int i = 0; i < sizes[g]; ++i) placement[node++] = {static_cast<int>(g)};
    }
    const RecoveryCurve curve = recovery_probability(placement, static_cast<int>(sizes.size()));
    EXPECT_EQ(curve.method, RecoveryMethod::exact);
    EXPECT_EQ(curve.error, 0);
    std::vector<long> counts;
    for (int k = 1; k <= 6; ++k) {
        counts.push_back(
            std::lround(curve.probability[static_cast<std::size_t>(k)] * binomial(10, k)));
    }
    return counts;
}

TEST(LazarusRecovery, CountsTheSegmentsOfTheSpecification) {
    EXPECT_THAT(survivors_of_groups({2, 2, 2}), testing::ElementsAre(10, 42, 96, 129, 102, 44));
    EXPECT_THAT(survivors_of_groups({2, 2, 3}), testing::ElementsAre(10, 43, 103, 148, 127, 60));
    EXPECT_THAT(survivors_of_groups({2, 2, 4}), testing::ElementsAre(10, 43, 104, 154, 140, 72));
}

TEST(LazarusRecovery, GivesTheCurvesOfTheSingleLayerAblation) {
    const Replicas skewed = {4, 4, 4, 4, 4, 4, 4, 12};
    expect_near(recovery_probability(place(PlacementPolicy::mro, skewed, 10, 4), 8).probability,
                {1, 1, 1, 1, .990, .952, .857, .667, .356, 0, 0}, 5e-4);
    expect_near(recovery_probability(place(PlacementPolicy::spread, skewed, 10, 4), 8).probability,
                {1, 1, 1, 1, .976, .881, .667, .333, 0, 0, 0}, 5e-4);
    const Replicas steep = {2, 2, 3, 3, 3, 3, 3, 21};
    expect_near(recovery_probability(place(PlacementPolicy::mro, steep, 10, 4), 8).probability,
                {1, 1, .978, .925, .833, .698, .524, .325, .133, 0, 0}, 5e-4);
    expect_near(recovery_probability(place(PlacementPolicy::spread, steep, 10, 4), 8).probability,
                {1, 1, .956, .833, .619, .345, .105, 0, 0, 0, 0}, 5e-4);
}

// Where the last group is cut, spreading is better at some numbers of failures (a known
// discrepancy).
TEST(LazarusRecovery, ShowsSpreadAheadOfACutLastGroup) {
    const Replicas replicas = {6, 6, 6, 6, 6, 6, 7, 17};
    expect_near(recovery_probability(place(PlacementPolicy::mro, replicas, 10, 6), 8).probability,
                {1, 1, 1, 1, .995, .976, .924, .800, .533, 0, 0}, 5e-4);
    expect_near(
        recovery_probability(place(PlacementPolicy::spread, replicas, 10, 6), 8).probability,
        {1, 1, 1, 1, 1, 1, .976, .833, .444, 0, 0}, 5e-4);
}

// "Fewer than f failures are always recoverable" breaks: f = 2, one failure.
TEST(LazarusRecovery, ShowsASingleFailureThatKillsInSpiteOfTwoReplicas) {
    const Replicas replicas = allocate(Loads(13, 1), 5, 6, 2).replicas;
    const RecoveryCurve mro = recovery_probability(place(PlacementPolicy::mro, replicas, 5, 6), 13);
    const RecoveryCurve spread =
        recovery_probability(place(PlacementPolicy::spread, replicas, 5, 6), 13);
    EXPECT_DOUBLE_EQ(mro.probability[1], 0.8);
    EXPECT_DOUBLE_EQ(spread.probability[1], 1.0);
}

TEST(LazarusRecovery, AgreesWithItsDefinition) {
    std::mt19937_64 random(17);
    for (int trial = 0; trial < 150; ++trial) {
        const int nodes = 1 + static_cast<int>(random() % 9),
                  slots = 1 + static_cast<int>(random() % 4);
        const int experts = 1 + static_cast<int>(random() % static_cast<unsigned>(nodes * slots));
        const ModelPlacement model =
            random_model(random, nodes, slots, experts, 1 + static_cast<int>(random() % 3));
        const RecoveryCurve curve = recovery_probability(model, experts);
        ASSERT_EQ(curve.method, RecoveryMethod::exact);
        expect_near(curve.probability, by_definition(model, experts), 1e-12);
    }
}

TEST(LazarusRecovery, CountsAlikeByEnumerationAndByInclusionExclusion) {
    std::mt19937_64 random(23);
    for (int trial = 0; trial < 60; ++trial) {
        const int nodes = 8 + static_cast<int>(random() % 10);
        const int experts = 4 + static_cast<int>(random() % 10);
        const ModelPlacement model = random_model(random, nodes, 3, experts, 1);
        RecoveryOptions enumerate, expand;
        enumerate.inclusion_exclusion_up_to = 0;
        expand.enumerate_up_to = 0;
        const RecoveryCurve a = recovery_probability(model, experts, enumerate);
        const RecoveryCurve b = recovery_probability(model, experts, expand);
        ASSERT_EQ(a.method, RecoveryMethod::exact);
        ASSERT_EQ(b.method, RecoveryMethod::exact);
        expect_near(a.probability, b.probability, 1e-12);
    }
}

TEST(LazarusRecovery, EstimatesWithinItsStatedError) {
    std::mt19937_64 random(29);
    int values = 0, outside = 0;
    for (int trial = 0; trial < 20; ++trial) {
        const ModelPlacement model = random_model(random, 14, 3, 12, 2);
        const RecoveryCurve exact = recovery_probability(model, 12);
        RecoveryOptions options;
        options.enumerate_up_to = options.inclusion_exclusion_up_to = 0;
        options.sweep_work = 0;
        options.samples = 4000;
        options.seed = random();
        const RecoveryCurve estimate = recovery_probability(model, 12, options);
        ASSERT_EQ(estimate.method, RecoveryMethod::monte_carlo);
        ASSERT_GT(estimate.error, 0);
        ASSERT_LT(estimate.error, 0.016);  // 1.96 / sqrt(4 · 4000)
        EXPECT_EQ(recovery_probability(model, 12, options).probability, estimate.probability);
        for (std::size_t k = 0; k < exact.probability.size(); ++k) {
            ++values;
            outside +=
                std::abs(exact.probability[k] - estimate.probability[k]) > estimate.error ? 1 : 0;
        }
    }
    EXPECT_LT(outside, values / 10);
}

TEST(LazarusRecovery, DoesNotDependOnTheOrderOfNodesOrTheNamesOfExperts) {
    std::mt19937_64 random(31);
    for (int trial = 0; trial < 50; ++trial) {
        const ModelPlacement model = random_model(random, 9, 3, 8, 2);
        ModelPlacement renamed = model;
        for (Placement& layer : renamed) {
            std::rotate(layer.begin(), layer.begin() + 4, layer.end());
            for (auto& node : layer) {
                for (int& e : node) e = (e * 3 + 5) % 8;
            }
        }
        expect_near(recovery_probability(renamed, 8).probability,
                    recovery_probability(model, 8).probability, 1e-14);
    }
}

TEST(LazarusRecovery, NeverRisesWithMoreFailuresNorWithMoreLayers) {
    std::mt19937_64 random(37);
    for (int trial = 0; trial < 100; ++trial) {
        const ModelPlacement model = random_model(random, 10, 3, 9, 3);
        const auto whole = recovery_probability(model, 9).probability;
        const auto first = recovery_probability(model[0], 9).probability;
        for (std::size_t k = 0; k < whole.size(); ++k) {
            EXPECT_LE(whole[k], first[k] + 1e-12);
            if (k > 0) {
                EXPECT_LE(whole[k], whole[k - 1] + 1e-12);
            }
        }
    }
}

// Closed form for one expert on r of N nodes: 1 - C(N-r, N-k)/C(N, k).
TEST(LazarusRecovery, StaysAccurateAtThousandsOfNodes) {
    const int nodes = 4096, r = 3;
    Placement placement(nodes, std::vector<int>{0});
    for (std::size_t n = 0; n < r; ++n) placement[n].push_back(1);
    const RecoveryCurve curve = recovery_probability(placement, 2);
    ASSERT_EQ(curve.method, RecoveryMethod::exact);
    for (int k : {0, 1, 2, 3, 10, 1000, 2048, 4000, 4093, 4095}) {
        double killed = 1;  // all three among the k failed
        for (int i = 0; i < r; ++i)
            killed *= std::max(0.0, static_cast<double>(k - i)) / (nodes - i);
        EXPECT_NEAR(curve.probability[static_cast<std::size_t>(k)], 1 - killed, 1e-14) << k;
    }
    EXPECT_EQ(curve.probability.back(), 0);
}

TEST(LazarusRecovery, CountsAlikeFromNodeToNode) {
    std::mt19937_64 random(41);
    for (int trial = 0; trial < 100; ++trial) {
        const int nodes = 2 + static_cast<int>(random() % 12);
        const int experts = 2 + static_cast<int>(random() % 12);
        if (experts > 3 * nodes) continue;
        const ModelPlacement model =
            random_model(random, nodes, 3, experts, 1 + static_cast<int>(random() % 2));
        RecoveryOptions sweep;
        sweep.enumerate_up_to = sweep.inclusion_exclusion_up_to = 0;
        const RecoveryCurve swept = recovery_probability(model, experts, sweep);
        ASSERT_EQ(swept.method, RecoveryMethod::exact);
        expect_near(swept.probability, by_definition(model, experts), 1e-12);
    }
}

// Rings of hundreds of sets over a thousand nodes are exact too, and agree with an estimate.
TEST(LazarusRecovery, IsExactAtAThousandNodes) {
    const int nodes = 1024;
    const Replicas replicas = allocate(Loads(256, 1), nodes, 6, 2).replicas;
    for (const auto policy :
         {PlacementPolicy::mro, PlacementPolicy::spread, PlacementPolicy::compact}) {
        const Placement placement = place(policy, replicas, nodes, 6);
        const RecoveryCurve curve = recovery_probability(placement, 256);
        ASSERT_EQ(curve.method, RecoveryMethod::exact);
        EXPECT_EQ(curve.probability[0], 1);
        EXPECT_EQ(curve.probability.back(), 0);
        RecoveryOptions estimate;
        estimate.enumerate_up_to = estimate.inclusion_exclusion_up_to = 0;
        estimate.sweep_work = 0;
        estimate.samples = 500;
        const RecoveryCurve sampled = recovery_probability(placement, 256, estimate);
        ASSERT_EQ(sampled.method, RecoveryMethod::monte_carlo);
        for (std::size_t k = 0; k <= nodes; k += 32)
            EXPECT_NEAR(curve.probability[k], sampled.probability[k], 2 * sampled.error) << k;
    }
}

// Random holders of every expert: nothing to sweep along.
TEST(LazarusRecovery, EstimatesWhatIsTooEntangled) {
    std::mt19937_64 random(43);
    Placement placement(200);
    for (auto& node : placement) {
        for (int i = 0; i < 6; ++i) node.push_back(static_cast<int>(random() % 100));
    }
    RecoveryOptions quick;
    quick.samples = 500;
    quick.sweep_work = 1e6;
    const RecoveryCurve curve = recovery_probability(placement, 100, quick);
    EXPECT_EQ(curve.method, RecoveryMethod::monte_carlo);
    EXPECT_EQ(curve.probability[0], 1);
    EXPECT_EQ(curve.probability.back(), 0);
}

TEST(LazarusRecovery, IsZeroWhenAnExpertIsNowhere) {
    EXPECT_THAT(recovery_probability(Placement{{0}, {0}}, 2).probability, testing::Each(0.0));
}

TEST(LazarusRecovery, RefusesImpossiblePlacements) {
    EXPECT_THROW(recovery_probability(Placement{{0}, {3}}, 2), UserError);
    EXPECT_THROW(recovery_probability(ModelPlacement{{{0}, {0}}, {{0}}}, 1), UserError);
    EXPECT_THROW(recovery_probability(ModelPlacement{}, 1), UserError);
}

TEST(LazarusFailureSets, KeepsMinimalHolderSetsOnly) {
    // Expert 0 on nodes 0-1, expert 1 on 0-2 (implied), expert 2 on 3.
    const auto sets = minimal_holder_sets({{{0, 1}, {0, 1}, {1}, {2}}}, 3);
    ASSERT_EQ(sets.size(), 2U);
    EXPECT_THAT(sets[0].members(), testing::ElementsAre(3));
    EXPECT_THAT(sets[1].members(), testing::ElementsAre(0, 1));
    const auto components = split_components(sets, 4);
    ASSERT_EQ(components.size(), 2U);
    EXPECT_EQ(components[0].nodes + components[1].nodes, 3);
}

TEST(LazarusFailureSets, CrossesWordsOfTheBitSet) {
    Placement placement(130, std::vector<int>{0});
    placement[3] = {0, 1};
    placement[129] = {0, 1};
    const auto sets = minimal_holder_sets({placement}, 2);
    ASSERT_EQ(sets.size(), 1U);
    EXPECT_THAT(sets[0].members(), testing::ElementsAre(3, 129));
}

}  // namespace
}  // namespace assay::lazarus
