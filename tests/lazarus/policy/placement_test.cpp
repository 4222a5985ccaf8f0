// Maximum rank overlap as published, and the two placements it is compared with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "impls/lazarus/policy/plan/allocation.hpp"
#include "impls/lazarus/policy/plan/mro.hpp"
#include "impls/lazarus/policy/plan/placement.hpp"
#include "suite/base/error.hpp"

namespace assay::lazarus {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr auto policies = {PlacementPolicy::mro, PlacementPolicy::spread, PlacementPolicy::compact};

TEST(LazarusPlacement, NestsASingleGroup) {
    // Coldest first: each expert's nodes contain those of every colder one.
    EXPECT_EQ(place(PlacementPolicy::mro, {2, 3, 3, 12}, 5, 4),
              (Placement{{0, 1, 2, 3}, {0, 1, 2, 3}, {1, 2, 3, 3}, {3, 3, 3, 3}, {3, 3, 3, 3}}));
}

TEST(LazarusPlacement, GivesEachGroupItsOwnNodes) {
    // Representatives 2 and 3: nodes 0-1 hold experts 0 and 1, nodes 2-4 hold 2 and 3.
    EXPECT_EQ(place(PlacementPolicy::mro, {2, 2, 3, 3}, 5, 2),
              (Placement{{0, 1}, {0, 1}, {2, 3}, {2, 3}, {2, 3}}));
}

TEST(LazarusPlacement, GroupsByReplicasNotByIndex) {
    EXPECT_EQ(place(PlacementPolicy::mro, {3, 2, 3, 2}, 5, 2),
              (Placement{{1, 3}, {1, 3}, {0, 2}, {0, 2}, {0, 2}}));
}

TEST(LazarusPlacement, OrdersEqualReplicasByLoad) {
    EXPECT_EQ(place(PlacementPolicy::mro, {2, 2, 2, 2}, 4, 2, Loads{9, 1, 8, 2}),
              (Placement{{1, 3}, {1, 3}, {0, 2}, {0, 2}}));
}

TEST(LazarusPlacement, CutsTheLastGroupWhereNodesRunOut) {
    EXPECT_EQ(place(PlacementPolicy::mro, {2, 2, 2}, 3, 2), (Placement{{0, 1}, {0, 1}, {2, 2}}));
    EXPECT_TRUE(mro_truncated({2, 2, 2}, 3, 2));
    EXPECT_FALSE(mro_truncated({2, 2, 3, 3}, 5, 2));
    EXPECT_FALSE(mro_truncated({2, 3, 3, 12}, 5, 4));
    EXPECT_THAT(mro_group_nodes({2, 2, 2}, 3, 2), ElementsAre(2, 1));
    EXPECT_THAT(mro_group_nodes({2, 2, 3, 3}, 5, 2), ElementsAre(2, 3));
}

TEST(LazarusPlacement, FillsVacanciesHottestFirstOntoNodesWithoutTheExpert) {
    // Node 3 belongs to no group. Expert 3 has one replica left and takes it, expert 1 the last
    // slot.
    EXPECT_EQ(place(PlacementPolicy::mro, {1, 2, 2, 3}, 4, 2),
              (Placement{{0, 1}, {2, 3}, {2, 3}, {1, 3}}));
}

TEST(LazarusPlacement, FillsTheEmptiestNodesFirstWhereAllHoldTheExpert) {
    // Nodes 2 to 4 hold expert 3 and have two free slots each: its three leftovers go to all of
    // them, then expert 2 (two left) to nodes 2 and 3, and expert 1 to node 4.
    EXPECT_EQ(place(PlacementPolicy::mro, {2, 3, 4, 6}, 5, 3),
              (Placement{{0, 1, 2}, {0, 1, 2}, {2, 3, 3}, {2, 3, 3}, {1, 3, 3}}));
}

TEST(LazarusPlacement, SpreadsInIndexOrderWithOneCursor) {
    EXPECT_EQ(place(PlacementPolicy::spread, {2, 2, 2}, 3, 2), (Placement{{0, 1}, {0, 2}, {1, 2}}));
    EXPECT_EQ(place(PlacementPolicy::spread, {3, 1, 2}, 2, 3), (Placement{{0, 0, 2}, {0, 1, 2}}));
}

TEST(LazarusPlacement, PacksInIndexOrder) {
    EXPECT_EQ(place(PlacementPolicy::compact, {3, 1, 2}, 2, 3), (Placement{{0, 0, 0}, {1, 2, 2}}));
}

TEST(LazarusPlacement, FillsEverySlotWithExactlyTheReplicasGiven) {
    std::mt19937_64 random(3);
    for (int trial = 0; trial < 1000; ++trial) {
        const int nodes = 1 + static_cast<int>(random() % 12),
                  slots = 1 + static_cast<int>(random() % 7);
        const auto experts =
            static_cast<std::size_t>(1 + random() % static_cast<unsigned>(nodes * slots));
        Loads loads(experts);
        for (Tokens& t : loads) t = static_cast<Tokens>(random() % 1000);
        const Replicas replicas = allocate(loads, nodes, slots, 2).replicas;
        for (PlacementPolicy policy : policies) {
            const Placement placement = place(policy, replicas, nodes, slots, loads);
            ASSERT_EQ(placement.size(), static_cast<std::size_t>(nodes));
            Replicas placed(experts, 0);
            for (const auto& node : placement) {
                ASSERT_EQ(node.size(), static_cast<std::size_t>(slots));
                ASSERT_TRUE(std::is_sorted(node.begin(), node.end()));
                for (int e : node) ++placed[static_cast<std::size_t>(e)];
            }
            ASSERT_EQ(placed, replicas);
        }
    }
}

// The definition of maximum rank overlap, read off the placement: each group's nodes hold the whole
// group.
TEST(LazarusPlacement, KeepsGroupsTogether) {
    std::mt19937_64 random(5);
    for (int trial = 0; trial < 500; ++trial) {
        const int nodes = 2 + static_cast<int>(random() % 10),
                  slots = 1 + static_cast<int>(random() % 6);
        const int experts = std::min(nodes * slots, slots + 1 + static_cast<int>(random() % 12));
        if (experts <= slots) continue;
        Loads loads(static_cast<std::size_t>(experts));
        for (Tokens& t : loads) t = static_cast<Tokens>(1 + random() % 1000);
        const Replicas replicas = allocate(loads, nodes, slots, 2).replicas;
        const Placement placement = place(PlacementPolicy::mro, replicas, nodes, slots, loads);
        std::vector<int> order(static_cast<std::size_t>(experts));
        for (int e = 0; e < experts; ++e) order[static_cast<std::size_t>(e)] = e;
        std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
            return loads[static_cast<std::size_t>(a)] < loads[static_cast<std::size_t>(b)];
        });
        std::size_t node = 0, low = 0;
        for (int size : mro_group_nodes(replicas, nodes, slots)) {
            ASSERT_GE(size, 1);
            const std::size_t high = std::min(order.size(), low + static_cast<std::size_t>(slots));
            for (int n = 0; n < size; ++n, ++node) {
                for (std::size_t i = low; i < high; ++i)
                    ASSERT_THAT(placement[node], testing::Contains(order[i]));
            }
            low = high;
        }
    }
}

TEST(LazarusPlacement, RefusesReplicasThatDoNotFillTheSlots) {
    try {
        place(PlacementPolicy::mro, {2, 2}, 3, 2);
        FAIL();
    } catch (const UserError& error) {
        EXPECT_THAT(error.what(), HasSubstr("4 replicas do not fill 3 nodes with 2 slots"));
    }
    EXPECT_THROW(place(PlacementPolicy::spread, {0, 4}, 2, 2), UserError);
    EXPECT_THROW(place(PlacementPolicy::mro, {2, 2}, 2, 2, Loads{1}), UserError);
}

TEST(LazarusPlacement, NamesItsPolicies) {
    for (PlacementPolicy policy : policies)
        EXPECT_EQ(of_word<PlacementPolicy>(to_string(policy)), policy);
    EXPECT_EQ(of_word<PlacementPolicy>("mro_guarded"), PlacementPolicy::mro_guarded);
    EXPECT_EQ(of_word<PlacementPolicy>("MRO"), std::nullopt);
}

TEST(LazarusModelPlan, PlansEachLayerOnItsOwn) {
    const std::vector<Loads> loads = {{1, 1, 1, 9}, {9, 1, 1, 1}};
    const ModelPlan plan = make_model_plan(loads, 4, 2, 1, PlacementPolicy::mro);
    ASSERT_EQ(plan.placement.size(), 2U);
    for (std::size_t layer = 0; layer < 2; ++layer) {
        const Allocation allocation = allocate(loads[layer], 4, 2, 1);
        EXPECT_EQ(plan.replicas[layer], allocation.replicas);
        EXPECT_EQ(plan.placement[layer],
                  place(PlacementPolicy::mro, allocation.replicas, 4, 2, loads[layer]));
    }
    EXPECT_EQ(plan.min_replicas_used, 1);
}

TEST(LazarusModelPlan, RefusesLayersOfDifferentSize) {
    EXPECT_THROW(make_model_plan(std::vector<Loads>{{1, 1}, {1}}, 2, 2, 1, PlacementPolicy::mro),
                 UserError);
    EXPECT_THROW(make_model_plan(std::vector<Loads>{}, 2, 2, 1, PlacementPolicy::mro), UserError);
    EXPECT_EQ(uniform_loads(3, 2), (std::vector<Loads>{{1, 1}, {1, 1}, {1, 1}}));
}

}  // namespace
}  // namespace assay::lazarus
