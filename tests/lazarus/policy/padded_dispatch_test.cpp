// Fixed expert parallelism: who forms a group, where tokens go, and how much padding travels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "impls/lazarus/policy/dispatch/rank_layout.hpp"
#include "impls/lazarus/policy/rivals/expert_parallel.hpp"
#include "suite/base/error.hpp"

namespace assay::lazarus {
namespace {

using testing::ElementsAre;

TEST(LazarusGroups, ConsecutiveSharesGiveConsecutiveGroups) {
    EXPECT_THAT(groups_of({{0, 1}, {2, 3}, {0, 1}, {2, 3}}, 2), ElementsAre(0, 0, 1, 1));
}

TEST(LazarusGroups, FollowTheHoldersInWhateverOrder) {
    EXPECT_THAT(groups_of({{0, 1}, {0, 1}, {2, 3}, {2, 3}}, 2), ElementsAre(0, 1, 0, 1));
    EXPECT_THAT(groups_of({{2, 3}, {0, 1}, {1, 0}, {2, 3}}, 2), ElementsAre(0, 0, 1, 1));
}

TEST(LazarusGroups, UnevenSharesAreRefused) {
    EXPECT_THROW(groups_of({{0}, {1}, {0}}, 2), UserError);       // one group is not whole
    EXPECT_THROW(groups_of({{0}, {0}}, 2), UserError);            // a share is missing
    EXPECT_THROW(groups_of({{0}, {1}, {2}, {3}}, 2), UserError);  // too many
    EXPECT_THROW(groups_of({}, 0), UserError);
    EXPECT_THROW(ExpertGroups({{0, 1}, {1, 2}}, 3, 2), UserError);  // expert 1 twice in the group
    EXPECT_THROW(ExpertGroups({{0}, {2}}, 3, 2), UserError);        // expert 1 nowhere
    EXPECT_THROW(ExpertGroups({{0, 0}, {1, 2}}, 3, 2), UserError);  // two replicas on one rank
}

TEST(LazarusPaddedDispatch, PadsToTheLargestSliceOfTheGroup) {
    // Two groups of two; the first group's largest slice has 5 tokens, the second's has 2.
    const ExpertGroups groups({{0}, {1}, {0}, {1}}, 2, 2);
    DispatchPlan plan;
    plan_padded_dispatch(std::vector<Tokens>{5, 1, 0, 2, /**/ 0, 3, 2, 1}, groups, plan);
    EXPECT_EQ(plan.at(0, 0, 0), 5);
    EXPECT_EQ(plan.at(1, 1, 1), 3);
    EXPECT_EQ(plan.at(0, 3, 2), 2);
    EXPECT_EQ(plan.at(0, 3, 0), 0);  // not to the other group's holder
    EXPECT_EQ(plan.room(1, 0, 1), 5);
    EXPECT_EQ(plan.room(0, 3, 2), 2);
    EXPECT_EQ(plan.room(0, 3, 0), 0);
    const RankLayout layout = rank_layout(plan, 0);
    EXPECT_THAT(layout.send_counts, ElementsAre(5, 5, 0, 0));
    EXPECT_THAT(layout.receive_counts, ElementsAre(5, 5, 0, 0));
    EXPECT_EQ(layout.from(1, 0).first_row, 5);
    EXPECT_EQ(layout.from(1, 0).rows, 1);
    EXPECT_EQ(layout.from(1, 0).room, 5);
}

TEST(LazarusPaddedDispatch, LosesNoTokenAndBothSidesAgree) {
    std::mt19937_64 random(61);
    for (int trial = 0; trial < 300; ++trial) {
        const int ep = 1 + static_cast<int>(random() % 4),
                  each = 1 + static_cast<int>(random() % 3);
        const int groups = 1 + static_cast<int>(random() % 3), ranks = ep * groups;
        const int experts = ep * each;
        Placement holders;
        for (int rank = 0; rank < ranks; ++rank) {
            auto& share = holders.emplace_back();
            for (int i = 0; i < each; ++i) share.push_back(rank % ep * each + i);
        }
        std::shuffle(holders.begin(), holders.end(), random);
        std::vector<Tokens> tokens;
        for (int i = 0; i < experts * ranks; ++i)
            tokens.push_back(static_cast<Tokens>(random() % 9));
        const ExpertGroups plan_groups(holders, experts, ep);
        DispatchPlan plan;
        plan_padded_dispatch(tokens, plan_groups, plan);
        for (int rank = 0; rank < ranks; ++rank) {
            Tokens capacity = 0;
            for (int other = 0; other < ranks; ++other)
                for (int e = 0; e < experts; ++e)
                    if (plan_groups.group(other) == plan_groups.group(rank))
                        capacity =
                            std::max(capacity, tokens[static_cast<std::size_t>(e * ranks + other)]);
            const auto layout = rank_layout(plan, rank);
            // Every rank sends and computes the same number of rows, however skewed the tokens.
            ASSERT_EQ(layout.send_total, capacity * experts);
            ASSERT_EQ(layout.receive_total, capacity * each * ep);
            for (int e = 0; e < experts; ++e) {
                Tokens sent = 0;
                for (int peer = 0; peer < ranks; ++peer) {
                    const auto& out = layout.to(peer, e);
                    ASSERT_EQ(out.room, rank_layout(plan, peer).from(rank, e).room);
                    ASSERT_EQ(out.rows, rank_layout(plan, peer).from(rank, e).rows);
                    ASSERT_LE(out.rows, out.room);
                    if (out.room > 0) {
                        const auto& held = holders[static_cast<std::size_t>(peer)];
                        ASSERT_EQ(plan_groups.group(peer), plan_groups.group(rank));
                        ASSERT_EQ(std::count(held.begin(), held.end(), e), 1);
                    }
                    sent += out.rows;
                }
                ASSERT_EQ(sent, tokens[static_cast<std::size_t>(e * ranks + rank)]);
            }
        }
    }
}

TEST(LazarusPaddedDispatch, APlanThatIsUsedAgainWithoutPaddingHasNone) {
    DispatchPlan plan;
    plan_padded_dispatch(std::vector<Tokens>{3, 1}, ExpertGroups({{0}, {0}}, 1, 1), plan);
    plan_dispatch(std::vector<Tokens>{3, 1}, std::vector<int>{1, 1}, 1, 2, plan);
    EXPECT_EQ(rank_layout(plan, 0).receive_total, 2);
}

TEST(LazarusPaddedDispatch, RefusesWrongShapesAndNegativeCounts) {
    const ExpertGroups groups({{0}, {1}}, 2, 2);
    DispatchPlan plan;
    EXPECT_THROW(plan_padded_dispatch(std::vector<Tokens>{1, 2, 3}, groups, plan), UserError);
    EXPECT_THROW(plan_padded_dispatch(std::vector<Tokens>{1, 2, 3, -1}, groups, plan), UserError);
}

}  // namespace
}  // namespace assay::lazarus
