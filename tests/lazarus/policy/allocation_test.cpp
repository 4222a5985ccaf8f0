// Eq. 1 in integers: published and hand-computed counts, and what must hold for any loads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>

#include "impls/lazarus/policy/plan/allocation.hpp"
#include "suite/base/error.hpp"

namespace assay::lazarus {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string error_of(const Loads& loads, int nodes, int slots, int min_replicas) {
    try {
        allocate(loads, nodes, slots, min_replicas);
    } catch (const UserError& error) {
        return error.what();
    }
    return "no error";
}

TEST(LazarusAllocation, GivesTheCountsOfFigure4) {
    EXPECT_THAT(allocate(Loads{2, 3, 3, 12}, 5, 4, 2).replicas, ElementsAre(2, 3, 3, 12));
}

TEST(LazarusAllocation, DividesEvenLoadsWithTheRemainderToTheHigherIndex) {
    const Allocation allocation = allocate(Loads(13, 7), 5, 6, 2);
    EXPECT_THAT(allocation.replicas, ElementsAre(2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3));
    EXPECT_EQ(allocation.min_replicas_used, 2);
}

TEST(LazarusAllocation, GivesTheCountsOfFigure10b) {
    const Loads two_to_one = {6, 6, 6, 6, 6, 6, 6, 14}, four_to_one = {4, 4, 4, 4, 4, 4, 4, 28};
    EXPECT_THAT(allocate(two_to_one, 10, 4, 2).replicas, ElementsAre(4, 4, 4, 4, 4, 4, 4, 12));
    EXPECT_THAT(allocate(four_to_one, 10, 4, 2).replicas, ElementsAre(2, 2, 3, 3, 3, 3, 3, 21));
    EXPECT_THAT(allocate(two_to_one, 10, 6, 2).replicas, ElementsAre(6, 6, 6, 6, 6, 6, 7, 17));
}

TEST(LazarusAllocation, AnswersInInputOrder) {
    EXPECT_THAT(allocate(Loads{12, 3, 2, 3}, 5, 4, 2).replicas, ElementsAre(12, 3, 2, 3));
}

TEST(LazarusAllocation, CountsTheLowerIndexAsColderAmongEqualLoads) {
    EXPECT_THAT(allocate(Loads{5, 5, 5}, 2, 2, 1).replicas, ElementsAre(1, 1, 2));
}

TEST(LazarusAllocation, LowersTheMinimumWhereSlotsDoNotSuffice) {
    const Allocation allocation = allocate(Loads(16, 1), 5, 6, 2);
    EXPECT_EQ(allocation.min_replicas_used, 1);
    EXPECT_EQ(std::accumulate(allocation.replicas.begin(), allocation.replicas.end(), 0), 30);
}

TEST(LazarusAllocation, TreatsNoLoadAtAllAsEven) {
    EXPECT_THAT(allocate(Loads{0, 0, 0, 0}, 3, 2, 1).replicas, ElementsAre(1, 1, 2, 2));
}

TEST(LazarusAllocation, StaysExactAtTheLargestLoads) {
    const Tokens huge = std::numeric_limits<Tokens>::max();
    EXPECT_THAT(allocate(Loads{huge, huge, huge}, 5, 3, 1).replicas, ElementsAre(5, 5, 5));
    // A floating-point floor would lose a slot of the last expert here.
    EXPECT_THAT(allocate(Loads{huge / 3, huge / 3 * 3}, 4, 1000, 1).replicas,
                ElementsAre(1000, 3000));
}

TEST(LazarusAllocation, SaysWhatIsWrong) {
    EXPECT_THAT(error_of({}, 2, 2, 1), HasSubstr("no experts"));
    EXPECT_THAT(error_of({1, -4}, 2, 2, 1), HasSubstr("expert 1 is -4"));
    EXPECT_THAT(error_of({1}, 0, 2, 1), HasSubstr("0 nodes"));
    EXPECT_THAT(error_of({1}, 2, -1, 1), HasSubstr("-1 slots"));
    EXPECT_THAT(error_of({1}, 2, 2, 0), HasSubstr("minimum of 0"));
    EXPECT_THAT(error_of({1, 1, 1, 1, 1}, 2, 2, 1),
                HasSubstr("infeasible: 2 nodes with 2 slots have 4 slots for 5"));
    EXPECT_THAT(error_of({1}, std::numeric_limits<int>::max(), 2, 1),
                HasSubstr("more than 2^31-1 slots"));
}

// What the paper claims of Eq. 1.
TEST(LazarusAllocation, KeepsItsInvariantsForAnyLoads) {
    std::mt19937_64 random(7);
    for (int trial = 0; trial < 3000; ++trial) {
        const int nodes = 1 + static_cast<int>(random() % 12),
                  slots = 1 + static_cast<int>(random() % 8);
        const auto experts =
            static_cast<std::size_t>(1 + random() % static_cast<unsigned>(nodes * slots));
        const int f = 1 + static_cast<int>(random() % 4);
        Loads loads(experts);
        for (Tokens& t : loads) t = static_cast<Tokens>(random() >> (1 + random() % 63));
        const Allocation allocation = allocate(loads, nodes, slots, f);
        const Replicas& r = allocation.replicas;

        ASSERT_EQ(std::accumulate(r.begin(), r.end(), 0), nodes * slots);
        ASSERT_EQ(allocation.min_replicas_used,
                  std::min(f, nodes * slots / static_cast<int>(experts)));
        const double total = std::accumulate(loads.begin(), loads.end(), 0.0);
        for (std::size_t i = 0; i < experts; ++i) {
            ASSERT_GE(r[i], allocation.min_replicas_used);
            for (std::size_t j = 0; j < experts; ++j) {
                if (loads[i] < loads[j] || (loads[i] == loads[j] && i < j)) {
                    ASSERT_LE(r[i], r[j]);
                }
            }
            // Clamping to f only ever takes from the hotter ones.
            if (r[i] > allocation.min_replicas_used && total > 0 &&
                loads[i] < *std::max_element(loads.begin(), loads.end())) {
                ASSERT_LE(r[i], static_cast<double>(loads[i]) / total * nodes * slots +
                                    static_cast<double>(experts));
            }
        }
    }
}

TEST(LazarusAllocation, DoesNotChangeWhenAllLoadsAreScaled) {
    std::mt19937_64 random(11);
    for (int trial = 0; trial < 200; ++trial) {
        Loads loads(8), scaled(8);
        for (std::size_t e = 0; e < loads.size(); ++e) {
            loads[e] = static_cast<Tokens>(random() % 100000);
            scaled[e] = loads[e] * 1000003;
        }
        EXPECT_EQ(allocate(loads, 10, 6, 2).replicas, allocate(scaled, 10, 6, 2).replicas);
    }
}

}  // namespace
}  // namespace assay::lazarus
