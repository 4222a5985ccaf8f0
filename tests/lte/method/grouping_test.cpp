#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <set>

#include "impls/lte/method/grouping.hpp"
#include "suite/base/error.hpp"

namespace assay::lte {
namespace {

using ::testing::ElementsAreArray;
using ::testing::UnorderedElementsAreArray;

at::Tensor normal(at::IntArrayRef shape, std::uint64_t seed) {
    return at::normal(0.0, 1.0, shape, at::make_generator<at::CPUGeneratorImpl>(seed),
                      at::TensorOptions().dtype(at::kFloat));
}

std::vector<std::int64_t> counting(int n) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(n));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

std::vector<std::set<std::int64_t>> experts_of(const Grouping& grouping) {
    std::vector<std::set<std::int64_t>> experts;
    for (int e = 0; e < grouping.experts(); ++e) {
        const auto first = grouping.order.begin() + e * grouping.expert_size;
        experts.emplace_back(first, first + grouping.expert_size);
    }
    return experts;
}

const KMeansOptions as_given{.normalise = false};

TEST(BalancedKMeans, RefusesWeightsThatAreNotFinite) {
    for (const float bad :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
        auto features = normal({64, 8}, 1);
        features[17][3] = bad;
        EXPECT_THROW(balanced_kmeans(features, 32), UserError);
    }
}

TEST(BalancedKMeans, GivesEveryNeuronAPlaceInAnExpertOfTheRightSize) {
    const auto grouping = balanced_kmeans(normal({192, 20}, 1), 32);
    EXPECT_EQ(grouping.expert_size, 32);
    EXPECT_EQ(grouping.experts(), 6);
    EXPECT_THAT(grouping.order, UnorderedElementsAreArray(counting(192)));
}

TEST(BalancedKMeans, RefusesSizesThatDoNotDivide) {
    EXPECT_THROW(balanced_kmeans(normal({100, 4}, 1), 32), UserError);
    EXPECT_THROW(random_grouping(100, 32, 1), UserError);
    EXPECT_THROW(coactivation_grouping(normal({100, 100}, 1), 32, 1), UserError);
}

TEST(BalancedKMeans, IsDeterministicAndIndependentOfTheScaleOfNormalisedRows) {
    const auto features = normal({256, 12}, 3);
    const auto grouping = balanced_kmeans(features, 32);
    EXPECT_THAT(balanced_kmeans(features, 32).order, ElementsAreArray(grouping.order));
    // Powers of two, so that normalising gives the same bits.
    auto scale = at::ones({256, 1});
    scale.narrow(0, 0, 128).fill_(4);
    EXPECT_THAT(balanced_kmeans(features * scale, 32).order, ElementsAreArray(grouping.order));
}

TEST(BalancedKMeans, IsNoWorseThanRandomGroups) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        const auto features = normal({128, 8}, seed);
        const auto grouping = balanced_kmeans(features, 16, as_given);
        for (std::uint64_t draw = 1; draw <= 5; ++draw)
            EXPECT_LT(within_distance(features, grouping),
                      within_distance(features, random_grouping(128, 16, draw)));
    }
}

TEST(BalancedKMeans, NoSingleExchangeImprovesIt) {
    const auto features = normal({48, 5}, 11);
    auto grouping = balanced_kmeans(features, 8, as_given);
    const double found = within_distance(features, grouping);
    for (std::size_t i = 0; i < grouping.order.size(); ++i) {
        for (std::size_t j = i + 1; j < grouping.order.size(); ++j) {
            std::swap(grouping.order[i], grouping.order[j]);
            EXPECT_GT(within_distance(features, grouping), found * (1 - 1e-5));
            std::swap(grouping.order[i], grouping.order[j]);
        }
    }
}

TEST(BalancedKMeans, RecoversPlantedClusters) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        // Neuron i belongs to centre i mod 8, far apart compared with the noise.
        const auto centres = normal({8, 24}, 100 + seed) * 5;
        const auto features = centres.repeat({32, 1}) + normal({256, 24}, seed) * 0.3;
        const auto grouping = balanced_kmeans(features, 32, {.normalise = false, .seed = seed});
        for (const auto& expert : experts_of(grouping)) {
            std::set<std::int64_t> planted;
            for (auto neuron : expert) planted.insert(neuron % 8);
            EXPECT_EQ(planted.size(), 1U);
        }
    }
}

// The least sum over all ways to split the rows.
double exhaustive_least(const at::Tensor& features, int size) {
    const auto n = features.size(0);
    double least = std::numeric_limits<double>::infinity();
    Grouping grouping{size, {}};
    std::vector<bool> used(static_cast<std::size_t>(n), false);
    std::function<void()> extend = [&] {
        if (static_cast<std::int64_t>(grouping.order.size()) == n) {
            least = std::min(least, within_distance(features, grouping));
            return;
        }
        // A group begins with the smallest free row and ascends.
        const bool opens = grouping.order.size() % static_cast<std::size_t>(size) == 0;
        for (std::int64_t i = opens ? 0 : grouping.order.back() + 1; i < n; ++i) {
            if (used[static_cast<std::size_t>(i)]) continue;
            used[static_cast<std::size_t>(i)] = true;
            grouping.order.push_back(i);
            extend();
            grouping.order.pop_back();
            used[static_cast<std::size_t>(i)] = false;
            if (opens) break;
        }
    };
    extend();
    return least;
}

TEST(BalancedKMeans, ComesNearTheBestOfAllPartitions) {
    int best = 0;
    constexpr int trials = 20;
    for (int trial = 0; trial < trials; ++trial) {
        const int size = trial % 2 == 0 ? 2 : 4;
        const auto features = normal({8, 2}, static_cast<std::uint64_t>(trial) + 1);
        const double found = within_distance(features, balanced_kmeans(features, size, as_given));
        const double least = exhaustive_least(features, size);
        EXPECT_GE(found, least * (1 - 1e-9));
        EXPECT_LE(found, least * 2);
        if (found <= least * (1 + 1e-6)) ++best;
    }
    // A local search: the optimum most of the time, not always.
    EXPECT_GE(best, trials / 2);
}

TEST(WithinDistance, SumsSquaredDistancesToTheMeans) {
    const auto features = at::tensor({0.0, 2.0, 10.0, 16.0}).view({4, 1});
    EXPECT_DOUBLE_EQ(within_distance(features, {2, {0, 1, 2, 3}}), 1 + 1 + 9 + 9);
    EXPECT_DOUBLE_EQ(within_distance(features, {2, {0, 2, 1, 3}}), 25 + 25 + 49 + 49);
}

TEST(RandomGrouping, IsAPermutationThatDependsOnTheSeed) {
    const auto one = random_grouping(256, 32, 1);
    EXPECT_THAT(one.order, UnorderedElementsAreArray(counting(256)));
    EXPECT_THAT(random_grouping(256, 32, 1).order, ElementsAreArray(one.order));
    EXPECT_NE(random_grouping(256, 32, 2).order, one.order);
}

TEST(CoactivationGrouping, FindsNeuronsThatAreActiveTogether) {
    // Token t excites the neurons i with i mod 4 = t mod 4, whatever their sign.
    auto hidden = normal({200, 32}, 5) * 0.1;
    for (std::int64_t t = 0; t < 200; ++t)
        for (std::int64_t i = t % 4; i < 32; i += 4) hidden[t][i] += i % 8 < 4 ? 3 : -3;
    const auto grouping = coactivation_grouping(coactivation_counts(hidden, 0.25), 8, 1);
    EXPECT_THAT(grouping.order, UnorderedElementsAreArray(counting(32)));
    for (const auto& expert : experts_of(grouping)) {
        std::set<std::int64_t> kinds;
        for (auto neuron : expert) kinds.insert(neuron % 4);
        EXPECT_EQ(kinds.size(), 1U);
    }
}

TEST(CoactivationGrouping, HoldsMoreWeightInsideThanRandomGroups) {
    const auto hidden = at::matmul(normal({300, 6}, 1), normal({6, 64}, 2));
    const auto strongest = std::get<1>(hidden.abs().topk(16, 1));
    const auto active = at::zeros({300, 64}).scatter_(1, strongest, 1);
    const auto counts = at::matmul(active.t(), active);
    const auto inside = [&](const Grouping& grouping) {
        double sum = 0;
        for (const auto& expert : experts_of(grouping))
            for (auto i : expert)
                for (auto j : expert)
                    if (i < j) sum += counts[i][j].item<double>();
        return sum;
    };
    const double found = inside(coactivation_grouping(coactivation_counts(hidden, 0.25), 8, 1));
    for (std::uint64_t seed = 1; seed <= 10; ++seed)
        EXPECT_GT(found, inside(random_grouping(64, 8, seed)));
}

}  // namespace
}  // namespace assay::lte
