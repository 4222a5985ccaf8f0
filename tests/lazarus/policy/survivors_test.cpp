// The counter of survivors: each way of counting against going through all failure sets one by one,
// and against the other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "impls/lazarus/policy/plan/survivors.hpp"

namespace assay::lazarus {
namespace {

// By definition.
Survivors brute_force(const std::vector<NodeMask>& holders, int nodes) {
    Survivors survivors(static_cast<std::size_t>(nodes) + 1, 0);
    for (NodeMask failed = 0; failed < (NodeMask{1} << nodes); ++failed) {
        const bool kills = std::any_of(holders.begin(), holders.end(),
                                       [&](NodeMask on) { return (on & failed) == on; });
        if (!kills) ++survivors[static_cast<std::size_t>(std::popcount(failed))];
    }
    return survivors;
}

// Any sets: some equal, some within others, now and then the empty one.
std::vector<NodeMask> random_sets(std::mt19937_64& random, int nodes, std::size_t count) {
    std::vector<NodeMask> sets;
    for (std::size_t i = 0; i < count; ++i) {
        NodeMask mask = random() & random();
        if (random() % 2 == 0) mask &= random();
        mask &= (NodeMask{1} << nodes) - 1;
        if (mask == 0 && random() % 8 != 0) mask = NodeMask{1} << (random() % unsigned(nodes));
        sets.push_back(mask);
    }
    return sets;
}

FailureComponent component_of(const std::vector<NodeMask>& masks, int nodes, int stride = 1) {
    FailureComponent component{nodes, {}};
    for (NodeMask mask : masks) {
        NodeSet set(nodes);
        for (; mask != 0; mask &= mask - 1) set.insert(stride * std::countr_zero(mask));
        component.sets.push_back(set);
    }
    return component;
}

TEST(LazarusSurvivors, AgreeWithGoingThroughAllFailureSets) {
    std::mt19937_64 random(71);
    for (int trial = 0; trial < 400; ++trial) {
        const int nodes = 1 + static_cast<int>(random() % 12);
        const auto sets = random_sets(random, nodes, random() % 10);
        const Survivors wanted = brute_force(sets, nodes);
        ASSERT_EQ(count_survivors(sets, nodes, Counting::enumeration), wanted);
        ASSERT_EQ(count_survivors(sets, nodes, Counting::inclusion_exclusion), wanted);
        ASSERT_EQ(count_survivors(minimal_masks(sets), nodes, Counting::inclusion_exclusion),
                  wanted);
        for (Counting way : {Counting::enumeration, Counting::inclusion_exclusion}) {
            const SurvivorCounts counts = count_survivors(component_of(sets, nodes), way);
            ASSERT_EQ(Survivors(counts.begin(), counts.end()), wanted);
        }
    }
}

TEST(LazarusSurvivors, AgreeWithEachOtherOnMoreNodes) {
    std::mt19937_64 random(73);
    for (int trial = 0; trial < 20; ++trial) {
        const int nodes = 13 + static_cast<int>(random() % 8);
        const auto sets = random_sets(random, nodes, 1 + random() % 12);
        ASSERT_EQ(count_survivors(sets, nodes, Counting::enumeration),
                  count_survivors(sets, nodes, Counting::inclusion_exclusion));
    }
}

// Nodes in no set multiply the counts by their binomials: on up to 64 nodes exactly, beyond to the
// accuracy of long double.
TEST(LazarusSurvivors, CountNodesThatHoldNothingOfImportance) {
    std::mt19937_64 random(79);
    for (int nodes : {20, 40, 63, 64, 65, 66, 128, 130, 200}) {
        const int core = 6, stride = nodes / core;
        const auto sets = random_sets(random, core, 1 + random() % 6);
        const Survivors small = brute_force(sets, core);
        const SurvivorCounts others = all_failure_sets(nodes - core);
        SurvivorCounts wanted(static_cast<std::size_t>(nodes) + 1, 0);
        for (std::size_t i = 0; i < small.size(); ++i)
            for (std::size_t j = 0; j < others.size(); ++j)
                wanted[i + j] += static_cast<long double>(small[i]) * others[j];
        const SurvivorCounts got =
            count_survivors(component_of(sets, nodes, stride), Counting::inclusion_exclusion);
        ASSERT_EQ(got.size(), wanted.size());
        for (std::size_t k = 0; k < got.size(); ++k) {
            const long double tolerance =
                nodes <= most_masked_nodes
                    ? 0
                    : 64 * all_failure_sets(nodes)[k] * std::numeric_limits<long double>::epsilon();
            EXPECT_NEAR(static_cast<double>(got[k] - wanted[k]), 0, static_cast<double>(tolerance))
                << nodes << " nodes, k = " << k;
        }
    }
}

TEST(LazarusSurvivors, KnowTheBinomials) {
    EXPECT_THAT(binomials(5), testing::ElementsAre(1, 5, 10, 10, 5, 1));
    EXPECT_EQ(binomials(64)[32], 1832624140942590534U);
    for (int nodes : {0, 1, 7, 64}) {
        const SurvivorCounts all = all_failure_sets(nodes);
        EXPECT_EQ(Survivors(all.begin(), all.end()), binomials(nodes));
        EXPECT_EQ(count_survivors(std::vector<NodeMask>{}, nodes, Counting::inclusion_exclusion),
                  binomials(nodes));
    }
}

TEST(LazarusHolderSets, AreMinimalWhereNoneContainsAnother) {
    EXPECT_THAT(minimal_masks({0b0110, 0b0111, 0b1000, 0b0110, 0b1100}),
                testing::ElementsAre(0b1000U, 0b0110U));
    EXPECT_THAT(holder_masks({{0, 1}, {1}, {0}}, 3), testing::ElementsAre(0b101U, 0b011U, 0U));
}

}  // namespace
}  // namespace assay::lazarus
