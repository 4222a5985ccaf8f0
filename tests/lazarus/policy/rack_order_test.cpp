// Plan nodes in racks: what is survived is recounted here from the placement alone, and on small
// clusters every way to fill the racks is tried.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "impls/lazarus/policy/beyond/rack_order.hpp"
#include "impls/lazarus/policy/plan/allocation.hpp"
#include "impls/lazarus/policy/plan/mro.hpp"
#include "impls/lazarus/policy/plan/placement.hpp"
#include "impls/lazarus/policy/plan/recovery_probability.hpp"
#include "suite/base/error.hpp"

namespace assay::lazarus {
namespace {

using testing::ElementsAre;

ModelPlacement placed(const ModelPlacement& plan, const NodeMapping& mapping) {
    ModelPlacement result;
    for (const Placement& layer : plan) result.push_back(apply_mapping(layer, mapping));
    return result;
}

bool survives(const ModelPlacement& placement, int experts, const RackOf& rack_of,
              const std::set<int>& lost) {
    for (const Placement& layer : placement) {
        std::set<int> left;
        for (std::size_t n = 0; n < layer.size(); ++n) {
            if (lost.count(rack_of[n]) == 0) left.insert(layer[n].begin(), layer[n].end());
        }
        if (static_cast<int>(left.size()) != experts) return false;
    }
    return true;
}

int fatal(const ModelPlacement& placement, int experts, const RackOf& rack_of) {
    const std::set<int> racks(rack_of.begin(), rack_of.end());
    return static_cast<int>(std::count_if(racks.begin(), racks.end(), [&](int rack) {
        return !survives(placement, experts, rack_of, {rack});
    }));
}

RackOf racks_in_order(int racks, int size) {
    RackOf rack_of;
    for (int n = 0; n < racks * size; ++n) rack_of.push_back(n / size);
    return rack_of;
}

// The fewest fatal racks over every way to deal the nodes to the racks.
int fewest_fatal(const ModelPlacement& plan, int experts, RackOf rack_of) {
    int best = static_cast<int>(rack_of.size());
    std::sort(rack_of.begin(), rack_of.end());
    do best = std::min(best, fatal(plan, experts, rack_of));
    while (std::next_permutation(rack_of.begin(), rack_of.end()));
    return best;
}

struct Case {
    ModelPlacement plan;
    int experts;
    RackOf rack_of;
    bool whole;  // every layer is overlap of whole groups with at least two nodes
};

Case random_case(std::mt19937_64& random, PlacementPolicy policy, int most_nodes, int layers) {
    const auto between = [&](int low, int high) {
        return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
    };
    for (;;) {
        const int racks = between(2, 5), size = between(1, 4), nodes = racks * size;
        const int slots = between(1, 4);
        if (nodes > most_nodes || nodes < 2) continue;
        Case one{{}, between(1, nodes * slots / 2), racks_in_order(racks, size), true};
        if (one.experts < 1) continue;
        for (int layer = 0; layer < layers; ++layer) {
            Loads loads(static_cast<std::size_t>(one.experts));
            for (Tokens& t : loads) t = between(1, 100) * between(1, 100);
            const Replicas replicas = allocate(loads, nodes, slots, 2).replicas;
            one.plan.push_back(place(policy, replicas, nodes, slots, loads));
            one.whole = one.whole && !mro_truncated(replicas, nodes, slots);
        }
        std::shuffle(one.rack_of.begin(), one.rack_of.end(), random);
        return one;
    }
}

TEST(LazarusRacks, KeepsAGroupOutOfOneRackByHand) {
    // Two groups of two nodes, racks of two: as numbered each rack is a whole group.
    const ModelPlacement plan = {{{0, 1}, {0, 1}, {2, 3}, {2, 3}}};
    const RackOf rack_of = {0, 0, 1, 1};
    EXPECT_EQ(fatal_racks(plan, 4, rack_of), 2);
    const NodeMapping order = rack_aware_order(plan, 4, rack_of);
    EXPECT_EQ(fatal_racks(placed(plan, order), 4, rack_of), 0);
    EXPECT_EQ(by_rack(plan, rack_of), (ModelPlacement{{{0, 1}, {2, 3}}}));
    EXPECT_EQ(by_rack(plan, {0, 1, 0, 1}), (ModelPlacement{{{0, 1, 2, 3}, {0, 1, 2, 3}}}));
}

// Four groups of two nodes on four racks of two. Dealt, any two neighbouring racks hold two groups;
// overlapped, racks 0 and 1 hold two groups and racks 2 and 3 the others: fewer fatal pairs.
TEST(LazarusRacks, OverlapsGroupsOnRacksByHand) {
    Placement layer;
    for (int g = 0; g < 4; ++g) layer.insert(layer.end(), 2, {g});
    const RackOf rack_of = racks_in_order(4, 2);
    const NodeMapping order = rack_aware_order({layer}, 4, rack_of);
    int fatal_pairs = 0;
    for (int a = 0; a < 4; ++a) {
        for (int b = a + 1; b < 4; ++b)
            fatal_pairs += !survives(placed({layer}, order), 4, rack_of, {a, b});
    }
    EXPECT_EQ(fatal_pairs, 2);
}

TEST(LazarusRacks, CountsFatalRacksAndCurvesAsTheDefinitionDoes) {
    std::mt19937_64 random(1);
    for (int trial = 0; trial < 200; ++trial) {
        const auto policy = static_cast<PlacementPolicy>(random() % 3);
        const Case one = random_case(random, policy, 16, 1 + trial % 3);
        ASSERT_EQ(fatal_racks(one.plan, one.experts, one.rack_of),
                  fatal(one.plan, one.experts, one.rack_of));
        const int racks = *std::max_element(one.rack_of.begin(), one.rack_of.end()) + 1;
        const auto curve =
            recovery_probability(by_rack(one.plan, one.rack_of), one.experts).probability;
        std::vector<double> survived(curve.size(), 0), all(curve.size(), 0);
        for (unsigned sets = 0; sets < 1U << racks; ++sets) {
            std::set<int> lost;
            for (int rack = 0; rack < racks; ++rack) {
                if ((sets >> rack & 1U) != 0) lost.insert(rack);
            }
            all[lost.size()] += 1;
            survived[lost.size()] += survives(one.plan, one.experts, one.rack_of, lost);
        }
        for (std::size_t k = 0; k < curve.size(); ++k)
            ASSERT_NEAR(curve[k], survived[k] / all[k], 1e-12);
    }
}

TEST(LazarusRacks, IsNeverWorseThanNodesAsTheyAreNumbered) {
    std::mt19937_64 random(2);
    int mended = 0;
    for (int trial = 0; trial < 400; ++trial) {
        const auto policy = static_cast<PlacementPolicy>(random() % 3);
        const Case one = random_case(random, policy, 20, 1 + trial % 3);
        const NodeMapping order = rack_aware_order(one.plan, one.experts, one.rack_of);
        ASSERT_EQ(std::set<int>(order.begin(), order.end()).size(), one.rack_of.size());
        const int before = fatal(one.plan, one.experts, one.rack_of);
        const int after = fatal(placed(one.plan, order), one.experts, one.rack_of);
        ASSERT_LE(after, before);
        mended += after < before;
        if (policy == PlacementPolicy::mro && one.whole) {
            ASSERT_EQ(after, 0) << trial;
        }
    }
    EXPECT_GT(mended, 20);
}

// Single layers of overlap, cut short or not: no filling of the racks at all has fewer fatal ones.
TEST(LazarusRacks, IsTheBestOfAllFillingsForTheLossOfOneRack) {
    std::mt19937_64 random(3);
    for (int trial = 0; trial < 120; ++trial) {
        const Case one = random_case(random, PlacementPolicy::mro, 9, 1);
        const NodeMapping order = rack_aware_order(one.plan, one.experts, one.rack_of);
        ASSERT_EQ(fatal(placed(one.plan, order), one.experts, one.rack_of),
                  fewest_fatal(one.plan, one.experts, one.rack_of))
            << trial;
    }
}

TEST(LazarusRacks, TakesRacksOfAnySizeAndRefusesNonsense) {
    const ModelPlacement plan = {{{0}, {0}, {1}, {1}, {2}}};
    const NodeMapping order = rack_aware_order(plan, 3, {0, 0, 0, 1, 2});
    EXPECT_LE(fatal(placed(plan, order), 3, {0, 0, 0, 1, 2}), 1);  // expert 2 has one node
    EXPECT_THROW(by_rack(plan, {0, 1}), UserError);
    EXPECT_THROW(by_rack(plan, {0, 0, 0, 0, -1}), UserError);
}

}  // namespace
}  // namespace assay::lazarus
