// Least-loaded spill: who computes which rows, by hand and for any loads.
#include "impls/lazarus/policy/rivals/spill.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>

#include "impls/lazarus/policy/rivals/expert_parallel.hpp"

namespace assay::lazarus {
namespace {

using testing::ElementsAre;

using Parts = std::vector<std::vector<SpillPart>>;

/// Two experts on each of four ranks.
const std::vector<int> eight{0, 0, 1, 1, 2, 2, 3, 3};

TEST(Spill, BelowTheThresholdNothingMoves) {
    const std::vector<Tokens> rows{110, 100, 100, 90, 100, 100, 100, 100};
    const Parts parts = spill_rows(rows, eight, 4, {.fewest = 1});
    for (std::size_t e = 0; e < rows.size(); ++e)
        EXPECT_THAT(parts[e], ElementsAre(SpillPart{eight[e], rows[e]}));
}

TEST(Spill, TheRestOfAHotExpertGoesToTheLeastLoaded) {
    // Mean 250, room 250. Rank 0 keeps room for expert 1; rank 3 has room for 150, ranks 1 and 2
    // for 50 each.
    const std::vector<Tokens> rows{450, 50, 100, 100, 100, 100, 50, 50};
    const Parts parts = spill_rows(rows, eight, 4, {.capacity = 1, .fewest = 1, .imbalance = 1.3});
    EXPECT_THAT(parts[0], ElementsAre(SpillPart{0, 200}, SpillPart{3, 150}, SpillPart{1, 50},
                                      SpillPart{2, 50}));
    for (std::size_t e = 1; e < rows.size(); ++e)
        EXPECT_THAT(parts[e], ElementsAre(SpillPart{eight[e], rows[e]}));
}

TEST(Spill, PiecesThatAreNotWorthTheWeightsGoTogether) {
    const std::vector<Tokens> rows{450, 50, 100, 100, 100, 100, 50, 50};
    const auto with = [&](Tokens fewest) {
        return spill_rows(rows, eight, 4, {.capacity = 1, .fewest = fewest, .imbalance = 1.3})[0];
    };
    EXPECT_THAT(with(100), ElementsAre(SpillPart{0, 200}, SpillPart{3, 150}, SpillPart{1, 100}));
    EXPECT_THAT(with(160), ElementsAre(SpillPart{0, 200}, SpillPart{3, 250}));
}

TEST(Spill, KeepsEveryRowAndFillsNobodyBeyondItsRoom) {
    std::mt19937_64 random(29);
    int spilled = 0, perfect = 0;
    for (int round = 0; round < 2000; ++round) {
        const int ranks = 1 + static_cast<int>(random() % 8),
                  each = 1 + static_cast<int>(random() % 3);
        std::vector<int> holder;
        std::vector<Tokens> rows;
        for (int e = 0; e < ranks * each; ++e) {
            holder.push_back(e / each);
            rows.push_back(static_cast<Tokens>(random() % 4 ? random() % 100 : random() % 3000));
        }
        const SpillLimits limits{.capacity = 1 + 0.1 * static_cast<double>(random() % 3),
                                 .fewest = static_cast<Tokens>(random() % 2 ? 1 : 50),
                                 .imbalance = 1.3};
        const Parts parts = spill_rows(rows, holder, ranks, limits);
        const double mean =
            static_cast<double>(std::accumulate(rows.begin(), rows.end(), Tokens{0})) / ranks;
        std::vector<Tokens> load(nth(ranks), 0), before(nth(ranks), 0);
        for (std::size_t e = 0; e < rows.size(); ++e) {
            Tokens sum = 0;
            std::set<int> who;
            for (const SpillPart& part : parts[e]) {
                EXPECT_GT(part.rows, 0);
                EXPECT_TRUE(who.insert(part.rank).second) << "a rank twice";
                sum += part.rows;
                load[nth(part.rank)] += part.rows;
                spilled += part.rank != holder[e];
            }
            EXPECT_EQ(sum, rows[e]);
            before[nth(holder[e])] += rows[e];
        }
        if (static_cast<double>(*std::max_element(before.begin(), before.end())) < 1.3 * mean) {
            EXPECT_EQ(load, before);
        } else if (limits.fewest == 1) {  // any piece will do, and there is room for all
            const auto room = static_cast<Tokens>(std::ceil(limits.capacity * mean));
            EXPECT_LE(*std::max_element(load.begin(), load.end()), room) << round;
            ++perfect;
        }
    }
    EXPECT_GT(spilled, 1000);
    EXPECT_GT(perfect, 500);
}

// The dispatcher makes moves of weights where, and only where, somebody computes for others.
TEST(Spill, WeightsTravelToWhoeverComputesForOthers) {
    const Placement holders{{0}, {1}, {0}, {1}};  // groups {0, 1} and {2, 3}
    const DispatchRule rule{.kind = DispatchRule::Kind::spill,
                            .group = 2,
                            .limits = {.capacity = 1, .fewest = 1, .imbalance = 1.3}};
    const auto dispatcher = make_dispatcher(rule, holders, 2);
    // Group 0: 80 rows of expert 0, 20 of expert 1. Group 1: even.
    const std::vector<Tokens> tokens{40, 40, 50, 0, 10, 10, 0, 50};
    const auto all = dispatcher->totals(tokens, RankSites::apart(4));
    EXPECT_EQ(all.computed, (std::vector<double>{50, 50, 50, 50}));
    ASSERT_EQ(all.weights.size(), 1U);
    EXPECT_EQ(all.weights[0].from, 0);
    EXPECT_EQ(all.weights[0].to, 1);
    // Rank 0 sends its 10 of expert 1; rank 1 keeps 30 of its 40 rows of expert 0, and its own 10.
    EXPECT_EQ(all.traffic[0].sent.total(), 10);
    EXPECT_EQ(all.traffic[1].sent.total(), 10);
    EXPECT_EQ(all.traffic[2].sent.total(), 0);
}

}  // namespace
}  // namespace assay::lazarus
