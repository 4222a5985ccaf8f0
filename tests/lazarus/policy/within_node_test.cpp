// Replicas of a node, dealt to its GPUs: every one once, slots kept, loads even.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <stdexcept>

#include "impls/lazarus/policy/plan/within_node.hpp"

namespace assay::lazarus {
namespace {

using testing::ElementsAre;

double load_of(const std::vector<int>& held, const std::vector<double>& load) {
    return std::accumulate(held.begin(), held.end(), 0.0,
                           [&](double sum, int e) { return sum + load[nth(e)]; });
}

TEST(WithinNode, HeavyReplicasGoToGpusOfTheirOwn) {
    const std::vector<double> load = {9, 5, 4, 1, 1, 1};
    EXPECT_THAT(deal_by_load(std::vector<int>{0, 1, 2, 3, 4, 5}, load, 3),
                ElementsAre(ElementsAre(0, 5), ElementsAre(1, 4), ElementsAre(2, 3)));
    // Equal loads: one after the other, replicas of one expert apart.
    EXPECT_THAT(deal_by_load(std::vector<int>{0, 0, 1, 1}, std::vector<double>{2, 2}, 2),
                ElementsAre(ElementsAre(0, 1), ElementsAre(0, 1)));
}

TEST(WithinNode, EveryReplicaOnceWithinItsSlotsAndEvenly) {
    std::mt19937_64 random(83);
    for (int trial = 0; trial < 2000; ++trial) {
        const int gpus = 1 + static_cast<int>(random() % 8),
                  experts = 1 + static_cast<int>(random() % 12);
        std::vector<double> load;
        for (int e = 0; e < experts; ++e) load.push_back(static_cast<double>(random() % 100));
        std::vector<int> replicas(random() % 33);
        for (int& e : replicas) e = static_cast<int>(random() % nth(experts));
        std::sort(replicas.begin(), replicas.end());
        for (const Placement& dealt :
             {deal_by_load(replicas, load, gpus), deal_in_blocks(replicas, gpus)}) {
            ASSERT_EQ(dealt.size(), nth(gpus));
            std::vector<int> all;
            for (const auto& held : dealt) {
                ASSERT_LE(held.size(), (replicas.size() + nth(gpus) - 1) / nth(gpus));
                ASSERT_TRUE(std::is_sorted(held.begin(), held.end()));
                all.insert(all.end(), held.begin(), held.end());
            }
            std::sort(all.begin(), all.end());
            ASSERT_EQ(all, replicas);
        }
        // A GPU that got its last replica while another had a free slot was the least loaded, so
        // two GPUs differ by a replica at most; those that are full at the end take what is light.
        const Placement dealt = deal_by_load(replicas, load, gpus);
        if (replicas.empty() || replicas.size() % nth(gpus) != 0) continue;
        double most = 0, least = 1e300, heaviest = 0;
        for (const auto& held : dealt) {
            most = std::max(most, load_of(held, load));
            least = std::min(least, load_of(held, load));
        }
        for (const int e : replicas) heaviest = std::max(heaviest, load[nth(e)]);
        ASSERT_LE(most - least, heaviest) << trial;
        ASSERT_LE(most, [&] {
            double blocks = 0;
            for (const auto& held : deal_in_blocks(replicas, gpus))
                blocks = std::max(blocks, load_of(held, load));
            return blocks + heaviest;
        }());
    }
}

TEST(WithinNode, BlocksAreTheSameInEveryGroup) {
    EXPECT_THAT(deal_in_blocks(std::vector<int>{3, 0, 1, 2}, 2),
                ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
    EXPECT_THROW(deal_in_blocks(std::vector<int>{0}, 0), std::invalid_argument);
    EXPECT_THROW(deal_by_load(std::vector<int>{1}, std::vector<double>{1}, 1),
                 std::invalid_argument);
}

}  // namespace
}  // namespace assay::lazarus
