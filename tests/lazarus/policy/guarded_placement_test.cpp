// Maximum rank overlap repaired where Theorem 1 fails. Every claim of the planner is checked
// against an enumeration written here, which shares nothing with the code that plans.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "impls/lazarus/policy/beyond/guarded_placement.hpp"
#include "impls/lazarus/policy/beyond/plan_quality.hpp"
#include "impls/lazarus/policy/plan/allocation.hpp"
#include "impls/lazarus/policy/plan/mro.hpp"
#include "impls/lazarus/policy/plan/placement.hpp"
#include "impls/lazarus/policy/plan/recovery_probability.hpp"
#include "suite/base/error.hpp"

namespace assay::lazarus {
namespace {

using testing::ElementsAre;
using testing::Ge;
using testing::Pointwise;

// [k]: ways to lose k nodes after which the others still hold all experts.
std::vector<std::uint64_t> enumerate(const Placement& placement, std::size_t experts) {
    const std::size_t nodes = placement.size();
    std::vector<std::uint64_t> ways(nodes + 1, 0);
    for (std::size_t lost = 0; lost < (std::size_t{1} << nodes); ++lost) {
        std::vector<bool> held(experts, false);
        std::size_t count = 0;
        for (std::size_t n = 0; n < nodes; ++n) {
            if ((lost >> n & 1U) != 0) {
                ++count;
            } else {
                for (int e : placement[n]) held[static_cast<std::size_t>(e)] = true;
            }
        }
        if (std::find(held.begin(), held.end(), false) == held.end()) ++ways[count];
    }
    return ways;
}

std::vector<std::uint64_t> enumerate(PlacementPolicy policy, const Replicas& replicas, int nodes,
                                     int slots) {
    return enumerate(place(policy, replicas, nodes, slots), replicas.size());
}

void expect_dominates(const Replicas& replicas, int nodes, int slots) {
    const GuardedPlacement plan = guarded_placement(replicas, nodes, slots);
    EXPECT_TRUE(plan.dominates);
    const auto got = enumerate(plan.placement, replicas.size());
    EXPECT_THAT(got, Pointwise(Ge(), enumerate(PlacementPolicy::mro, replicas, nodes, slots)));
    EXPECT_THAT(got, Pointwise(Ge(), enumerate(PlacementPolicy::spread, replicas, nodes, slots)));
}

struct Shape {
    int nodes, slots;
    Replicas replicas;
};

// Shapes of up to ten nodes with (or without) a cut last group.
Shape random_shape(std::mt19937_64& random, bool cut) {
    for (;;) {
        const int nodes = 2 + static_cast<int>(random() % 9),
                  slots = 1 + static_cast<int>(random() % 6);
        Loads loads(1 + random() % static_cast<unsigned>(nodes * slots));
        const bool even = random() % 2 == 0;
        for (Tokens& t : loads)
            t = static_cast<Tokens>(even ? 90 + random() % 20 : random() % 1000);
        const int least = 1 + static_cast<int>(random() % 3);
        Shape shape{nodes, slots, allocate(loads, nodes, slots, least).replicas};
        if (mro_truncated(shape.replicas, nodes, slots) == cut) return shape;
    }
}

std::size_t distinct_nodes(const Placement& placement, int expert) {
    return static_cast<std::size_t>(
        std::count_if(placement.begin(), placement.end(), [&](const auto& node) {
            return std::find(node.begin(), node.end(), expert) != node.end();
        }));
}

TEST(LazarusGuarded, RepairsThreeNodesByHand) {
    // Overlap puts both replicas of an expert on one node; any two nodes can hold all three.
    EXPECT_THAT(enumerate(PlacementPolicy::mro, {2, 2, 2}, 3, 2), ElementsAre(1, 2, 0, 0));
    const GuardedPlacement plan = guarded_placement({2, 2, 2}, 3, 2);
    EXPECT_TRUE(plan.dominates);
    EXPECT_NE(plan.source, GuardedSource::mro);
    EXPECT_THAT(enumerate(plan.placement, 3), ElementsAre(1, 3, 0, 0));
}

TEST(LazarusGuarded, RepairsFourNodesByHand) {
    EXPECT_THAT(enumerate(PlacementPolicy::mro, {3, 3, 3, 3}, 4, 3), ElementsAre(1, 3, 3, 0, 0));
    const GuardedPlacement plan = guarded_placement({3, 3, 3, 3}, 4, 3);
    EXPECT_TRUE(plan.dominates);
    EXPECT_THAT(enumerate(plan.placement, 4), ElementsAre(1, 4, 6, 0, 0));
}

TEST(LazarusGuarded, SurvivesFewerThanFFailuresWhereOverlapDoesNot) {
    const Replicas replicas = allocate(Loads(13, 1), 5, 6, 2).replicas;
    EXPECT_EQ(enumerate(PlacementPolicy::mro, replicas, 5, 6)[1], 4U);
    EXPECT_EQ(enumerate(guarded_placement(replicas, 5, 6).placement, 13)[1], 5U);
    expect_dominates(replicas, 5, 6);
}

TEST(LazarusGuarded, BeatsBothOnTheTenNodesOfTheAblation) {
    const Replicas replicas = {6, 6, 6, 6, 6, 6, 7, 17};
    // Neither dominates the other: spread is better after 6 failures, overlap after 8.
    const auto mro = enumerate(PlacementPolicy::mro, replicas, 10, 6),
               spread = enumerate(PlacementPolicy::spread, replicas, 10, 6);
    EXPECT_GT(spread[6], mro[6]);
    EXPECT_GT(mro[8], spread[8]);
    expect_dominates(replicas, 10, 6);
}

TEST(LazarusGuarded, KeepsOverlapWhereItIsWhole) {
    // Theorem 1, against spread: the promise that needs no counting.
    std::mt19937_64 random(1);
    for (int trial = 0; trial < 150; ++trial) {
        const auto [nodes, slots, replicas] = random_shape(random, /*cut=*/false);
        const GuardedPlacement plan = guarded_placement(replicas, nodes, slots);
        ASSERT_EQ(plan.placement, place(PlacementPolicy::mro, replicas, nodes, slots));
        ASSERT_TRUE(plan.dominates);
        ASSERT_EQ(plan.source, GuardedSource::mro);
        ASSERT_THAT(enumerate(plan.placement, replicas.size()),
                    Pointwise(Ge(), enumerate(PlacementPolicy::spread, replicas, nodes, slots)));
    }
}

TEST(LazarusGuarded, IsNeverWorseThanWhatItPromises) {
    std::mt19937_64 random(2);
    GuardedOptions quick;
    quick.search_work = 1 << 15;
    int repaired = 0;
    for (int trial = 0; trial < 150; ++trial) {
        const auto [nodes, slots, replicas] = random_shape(random, /*cut=*/true);
        const GuardedPlacement plan = guarded_placement(replicas, nodes, slots, {}, quick);
        ASSERT_EQ(plan.placement.size(), static_cast<std::size_t>(nodes));
        Replicas placed(replicas.size(), 0);
        for (const auto& node : plan.placement) {
            ASSERT_EQ(node.size(), static_cast<std::size_t>(slots));
            ASSERT_TRUE(std::is_sorted(node.begin(), node.end()));
            for (int e : node) ++placed[static_cast<std::size_t>(e)];
        }
        ASSERT_EQ(placed, replicas);

        const auto got = enumerate(plan.placement, replicas.size());
        const auto mro = enumerate(PlacementPolicy::mro, replicas, nodes, slots);
        ASSERT_THAT(got, Pointwise(Ge(), mro));
        repaired += got != mro;
        if (!plan.dominates) continue;
        const auto spread = enumerate(PlacementPolicy::spread, replicas, nodes, slots);
        ASSERT_THAT(got, Pointwise(Ge(), spread));
        // Where spread keeps every expert on f nodes, so does the plan.
        const Placement apart = place(PlacementPolicy::spread, replicas, nodes, slots);
        const int f = std::min(nodes, *std::min_element(replicas.begin(), replicas.end()));
        const auto has = [&](const Placement& placement) {
            for (int e = 0; e < static_cast<int>(replicas.size()); ++e) {
                if (distinct_nodes(placement, e) < static_cast<std::size_t>(f)) return false;
            }
            return true;
        };
        ASSERT_TRUE(!has(apart) || has(plan.placement));
    }
    EXPECT_GT(repaired, 50);
}

TEST(LazarusGuarded, RepeatsItself) {
    const Replicas replicas = allocate(Loads(13, 1), 5, 6, 2).replicas;
    const Placement once = guarded_placement(replicas, 5, 6).placement;
    EXPECT_EQ(guarded_placement(replicas, 5, 6).placement, once);
    EXPECT_EQ(place(PlacementPolicy::mro_guarded, replicas, 5, 6), once);
    EXPECT_EQ(of_word<PlacementPolicy>("mro_guarded"), PlacementPolicy::mro_guarded);
    EXPECT_EQ(to_string(PlacementPolicy::mro_guarded), "mro_guarded");
}

// 65 nodes: 33 groups of two want 66. Overlap's last group has one node, both replicas of an expert
// are on it; the plan survives every single loss, and is never worse at any number of losses.
TEST(LazarusGuarded, RepairsTheLastGroupsOfMoreNodesThanItCanCount) {
    const Replicas replicas(65, 2);
    ASSERT_TRUE(mro_truncated(replicas, 65, 2));
    const GuardedPlacement plan = guarded_placement(replicas, 65, 2);
    EXPECT_FALSE(plan.dominates);
    const auto mro = recovery_probability(place(PlacementPolicy::mro, replicas, 65, 2), 65);
    const auto got = recovery_probability(plan.placement, 65);
    EXPECT_LT(mro.probability[1], 1);
    EXPECT_EQ(got.probability[1], 1);
    // A whole plan needs no counting.
    EXPECT_TRUE(guarded_placement(Replicas(64, 8), 256, 2).dominates);
}

TEST(LazarusGuarded, IsNeverWorseThanOverlapOnHundredsOfNodes) {
    std::mt19937_64 random(7);
    GuardedOptions quick;
    quick.search_work = 1 << 16;
    int cut = 0, repaired = 0;
    while (cut < 40) {
        const int nodes = 65 + static_cast<int>(random() % 300);
        const int slots = 2 + static_cast<int>(random() % 6);
        Loads loads(static_cast<std::size_t>(nodes) * static_cast<std::size_t>(slots) /
                    (2 + random() % 6));
        const bool even = random() % 2 == 0;
        for (Tokens& t : loads)
            t = static_cast<Tokens>(even ? 90 + random() % 20 : 1 + random() % 1000);
        const Replicas replicas = allocate(loads, nodes, slots, 2).replicas;
        if (!mro_truncated(replicas, nodes, slots)) continue;
        ++cut;
        const GuardedPlacement plan = guarded_placement(replicas, nodes, slots, loads, quick);
        Replicas placed(replicas.size(), 0);
        for (const auto& node : plan.placement) {
            ASSERT_EQ(node.size(), static_cast<std::size_t>(slots));
            ASSERT_TRUE(std::is_sorted(node.begin(), node.end()));
            for (int e : node) ++placed[static_cast<std::size_t>(e)];
        }
        ASSERT_EQ(placed, replicas);
        const Placement overlap = place(PlacementPolicy::mro, replicas, nodes, slots, loads);
        const int experts = static_cast<int>(replicas.size());
        const RecoveryCurve got = recovery_probability(plan.placement, experts);
        const RecoveryCurve mro = recovery_probability(overlap, experts);
        repaired += plan.placement != overlap;
        if (got.method != RecoveryMethod::exact || mro.method != RecoveryMethod::exact) continue;
        for (std::size_t k = 0; k < got.probability.size(); ++k)
            ASSERT_GE(got.probability[k], mro.probability[k] - 1e-12);
        if (plan.placement != overlap) {
            ASSERT_NE(got.probability, mro.probability);
        }
    }
    EXPECT_GT(repaired, 20);
}

TEST(LazarusGuarded, RefusesWhatPlaceRefuses) {
    EXPECT_THROW(guarded_placement({2, 2}, 3, 2), UserError);
    EXPECT_THROW(place_blocks({2, 2, 2}, 3, 2, {.whole = 0, .block = 3}), UserError);
    EXPECT_THROW(place_blocks({2, 2, 2}, 3, 2, {.whole = -1}), UserError);
}

TEST(LazarusBlocks, AreOverlapWithFullGroupsAndCyclicWithSingleExperts) {
    EXPECT_EQ(place_blocks({2, 2, 2}, 3, 2, {.block = 2}),
              place(PlacementPolicy::mro, {2, 2, 2}, 3, 2));
    EXPECT_EQ(place_blocks({2, 2, 2}, 3, 2, {}), (Placement{{0, 1}, {0, 2}, {1, 2}}));
    // One whole group on nodes 0 and 1, the three other experts in turn on the other three nodes.
    EXPECT_EQ(place_blocks({2, 2, 2, 2, 2}, 5, 2, {.whole = 1}),
              (Placement{{0, 1}, {0, 1}, {2, 3}, {2, 4}, {3, 4}}));
}

TEST(LazarusSearch, NeverReturnsAWorsePlan) {
    std::mt19937_64 random(4);
    for (int trial = 0; trial < 40; ++trial) {
        const auto [nodes, slots, replicas] = random_shape(random, trial % 2 == 0);
        const Placement start = place(PlacementPolicy::compact, replicas, nodes, slots);
        const auto before = enumerate(start, replicas.size());
        const SearchGoal goal{before, before};
        SearchOptions options;
        options.work = 1 << 14;
        const Placement found =
            search_placement(start, static_cast<int>(replicas.size()), goal, options);
        ASSERT_THAT(enumerate(found, replicas.size()), Pointwise(Ge(), before));
    }
}

TEST(LazarusExactSurvivors, AgreesWithTheEnumeration) {
    std::mt19937_64 random(5);
    for (int trial = 0; trial < 200; ++trial) {
        const auto [nodes, slots, replicas] = random_shape(random, trial % 2 == 0);
        const auto policy = static_cast<PlacementPolicy>(random() % 3);
        const Placement placement = place(policy, replicas, nodes, slots);
        const auto minimal =
            minimal_masks(holder_masks(placement, static_cast<int>(replicas.size())));
        const auto counted = exact_survivors(minimal, nodes);
        ASSERT_TRUE(counted);
        ASSERT_EQ(*counted, enumerate(placement, replicas.size()));
    }
}

TEST(LazarusExactSurvivors, StaysExactWhereDoublesAreNot) {
    // Sixty-four nodes in 5 disjoint pairs and 54 nodes without a set: 32 failures survive in
    // sum over i of C(5, i) 2^i C(54, 32-i) ways.
    std::vector<NodeMask> pairs;
    for (int p = 0; p < 5; ++p) pairs.push_back(NodeMask{3} << (2 * p));
    const auto counted = exact_survivors(pairs, 64);
    ASSERT_TRUE(counted);
    const auto choose = [](int n, int k) {
        std::uint64_t value = 1;
        for (int i = 1; i <= k; ++i)
            value = value * static_cast<std::uint64_t>(n - k + i) / static_cast<std::uint64_t>(i);
        return value;
    };
    std::uint64_t wanted = 0;
    for (int i = 0; i <= 5; ++i)
        wanted += choose(5, i) * (std::uint64_t{1} << i) * choose(54, 32 - i);
    EXPECT_GT(wanted, std::uint64_t{1} << 53);
    EXPECT_EQ((*counted)[32], wanted);
    EXPECT_EQ((*counted)[1], 64U);
}

TEST(LazarusExactSurvivors, BoundsWhatItCannotCount) {
    // Sixty-four rotations of six nodes: too many sets to expand, too many nodes to enumerate.
    std::vector<NodeMask> rotations;
    for (int n = 0; n < 64; ++n) {
        NodeMask mask = 0;
        for (int i = 0; i < 6; ++i) mask |= NodeMask{1} << ((n + i) % 64);
        rotations.push_back(mask);
    }
    EXPECT_FALSE(exact_survivors(rotations, 64));
    const Survivors bound = survivors_bound(rotations, 64);
    EXPECT_EQ(bound[5], binomials(64)[5]);
    EXPECT_LT(bound[6], binomials(64)[6]);
    EXPECT_GE(bound[6], binomials(64)[6] - 64);  // 64 sets of six kill
}

TEST(LazarusExactSurvivors, MeasuresShortfalls) {
    EXPECT_EQ(shortfall({1, 2, 0}, {1, 2, 0}), 0);
    EXPECT_EQ(shortfall({1, 2, 1}, {1, 1, 0}), 0);
    EXPECT_EQ(shortfall({1, 1, 0}, {1, 2, 0}), std::int64_t{1} << 31);  // one of two
    EXPECT_FALSE(never_fewer({1, 1, 0}, {1, 2, 0}));
    EXPECT_TRUE(never_fewer({1, 2, 1}, {1, 2, 0}));
    // One set of all C(64, 32) still counts.
    Survivors almost = binomials(64);
    --almost[32];
    EXPECT_GT(shortfall(almost, binomials(64)), 0);
}

}  // namespace
}  // namespace assay::lazarus
