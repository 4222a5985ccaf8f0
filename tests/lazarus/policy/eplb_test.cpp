// DeepSeek's load balancer: the example that comes with it, and what holds for any loads.
#include "impls/lazarus/policy/rivals/eplb.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

#include "suite/base/error.hpp"

namespace assay::lazarus {
namespace {

using testing::ElementsAre;

std::vector<int> slots_of(const Placement& placement) {
    std::vector<int> slots;
    for (const auto& gpu : placement) slots.insert(slots.end(), gpu.begin(), gpu.end());
    return slots;
}

std::map<int, int> counts_of(const Placement& placement) {
    std::map<int, int> counts;
    for (int expert : slots_of(placement)) ++counts[expert];
    return counts;
}

// deepseek-ai/EPLB, README: two layers of twelve experts in four groups, sixteen replicas on eight
// GPUs of two nodes.
TEST(Eplb, TheExampleOfItsReadme) {
    const EplbMachine machine{.gpus = 8, .slots = 2, .nodes = 2, .groups = 4};
    EXPECT_THAT(
        slots_of(place_eplb(Loads{90, 132, 40, 61, 104, 165, 39, 4, 73, 56, 183, 86}, machine)),
        ElementsAre(5, 6, 5, 7, 8, 4, 3, 4, 10, 9, 10, 2, 0, 1, 11, 1));
    EXPECT_THAT(
        slots_of(place_eplb(Loads{20, 107, 104, 64, 19, 197, 187, 157, 172, 86, 16, 27}, machine)),
        ElementsAre(7, 10, 6, 8, 6, 11, 8, 9, 2, 4, 5, 1, 5, 0, 3, 1));
}

TEST(Eplb, GroupsThatNodesDoNotDivideAreIgnored) {
    const Loads loads{90, 132, 40, 61, 104, 165, 39, 4, 73, 56, 183, 86};
    const Placement global = place_eplb(loads, {.gpus = 6, .slots = 3});
    EXPECT_EQ(place_eplb(loads, {.gpus = 6, .slots = 3, .nodes = 3, .groups = 4}), global);
    EXPECT_NE(place_eplb(loads, {.gpus = 6, .slots = 3, .nodes = 3, .groups = 6}), global);
}

TEST(Eplb, HotExpertsHaveTheReplicasAndNoGpuMoreThanItsShare) {
    std::mt19937_64 random(17);
    for (int round = 0; round < 300; ++round) {
        const int experts = 1 + static_cast<int>(random() % 12);
        const int gpus = 1 + static_cast<int>(random() % 10);
        const int slots = (experts + gpus - 1) / gpus + static_cast<int>(random() % 4);
        Loads loads(static_cast<std::size_t>(experts));
        for (Tokens& load : loads) load = static_cast<Tokens>(random() % 1000);
        const Placement placement = place_eplb(loads, {.gpus = gpus, .slots = slots});
        ASSERT_EQ(placement.size(), static_cast<std::size_t>(gpus));
        for (const auto& gpu : placement) EXPECT_EQ(gpu.size(), static_cast<std::size_t>(slots));
        const auto counts = counts_of(placement);
        ASSERT_EQ(counts.size(), loads.size()) << "every expert is somewhere";
        const auto per_replica = [&](int expert, int replicas) {
            return static_cast<double>(loads[static_cast<std::size_t>(expert)]) / replicas;
        };
        // Greedy: whoever got a further replica had at least the load per replica, just before,
        // that anybody has in the end. So it minimises the most that a replica computes.
        double most = 0;
        for (const auto& [expert, replicas] : counts)
            most = std::max(most, per_replica(expert, replicas));
        for (const auto& [expert, replicas] : counts) {
            if (replicas > 1) {
                EXPECT_GE(per_replica(expert, replicas - 1), most) << round;
            }
        }
        // Packing, heaviest first: the fullest GPU is above the mean by one replica at most.
        const double mean =
            static_cast<double>(std::accumulate(loads.begin(), loads.end(), Tokens{0})) / gpus;
        for (const auto& gpu : placement) {
            double sum = 0;
            for (int expert : gpu) sum += per_replica(expert, counts.at(expert));
            EXPECT_LE(sum, mean + most + 1e-6) << round;
        }
    }
}

TEST(Eplb, RefusesWhatDoesNotFit) {
    const Loads loads{1, 2, 3, 4, 5, 6};
    EXPECT_THROW(place_eplb(loads, {.gpus = 2, .slots = 2}), UserError);
    EXPECT_THROW(place_eplb(Loads{}, {.gpus = 2, .slots = 2}), UserError);
    EXPECT_THROW(place_eplb(Loads{1, -1}, {.gpus = 2, .slots = 2}), UserError);
    EXPECT_THROW(place_eplb(loads, {.gpus = 3, .slots = 4, .nodes = 2, .groups = 4}), UserError);
    EXPECT_THROW(place_eplb(loads, {.gpus = 4, .slots = 4, .nodes = 2, .groups = 4}), UserError)
        << "six experts in four groups";
}

}  // namespace
}  // namespace assay::lazarus
