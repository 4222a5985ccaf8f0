// Dispatch counts: conservation, balance, agreement of both sides, and what renaming must not
// change.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>

#include "impls/lazarus/policy/dispatch/rank_layout.hpp"
#include "suite/base/error.hpp"

namespace assay::lazarus {
namespace {

using testing::ElementsAre;

struct Instance {
    int experts, ranks;
    std::vector<Tokens> tokens;
    std::vector<int> replicas;

    std::size_t at(int e, int rank) const { return static_cast<std::size_t>(e * ranks + rank); }
    Tokens total(int e) const {
        return std::accumulate(tokens.begin() + e * ranks, tokens.begin() + (e + 1) * ranks,
                               Tokens{0});
    }
    int holders(int e) const {
        return std::accumulate(replicas.begin() + e * ranks, replicas.begin() + (e + 1) * ranks, 0);
    }
    DispatchPlan plan() const { return plan_dispatch(tokens, replicas, experts, ranks); }
};

Instance random_instance(std::mt19937_64& random) {
    Instance instance;
    instance.experts = 1 + static_cast<int>(random() % 9);
    instance.ranks = 1 + static_cast<int>(random() % 9);
    const auto size = static_cast<std::size_t>(instance.experts * instance.ranks);
    // From a few tokens, where rounding is everything, to beyond 32 bits.
    const std::uint64_t scale = std::uint64_t{1} << (1 + random() % 40);
    for (std::size_t i = 0; i < size; ++i) {
        instance.tokens.push_back(random() % 4 == 0 ? 0 : static_cast<Tokens>(random() % scale));
        instance.replicas.push_back(static_cast<int>(random() % 3));
    }
    for (int e = 0; e < instance.experts; ++e) {
        if (instance.holders(e) == 0)
            instance.replicas[instance.at(
                e, static_cast<int>(random() % static_cast<unsigned>(instance.ranks)))] = 1;
    }
    return instance;
}

TEST(LazarusDispatch, KeepsTokensWhereTheirExpertIs) {
    // One replica on each of two ranks, even tokens: nothing travels.
    const DispatchPlan plan =
        plan_dispatch(std::vector<Tokens>{5, 5}, std::vector<int>{1, 1}, 1, 2);
    EXPECT_THAT(plan.counts, ElementsAre(5, 0, 0, 5));
}

TEST(LazarusDispatch, SendsTheOverflowInProportionToFreeCapacity) {
    // 12 tokens, replicas 1 and 2 on ranks 1 and 2: capacities 4 and 8.
    const DispatchPlan plan =
        plan_dispatch(std::vector<Tokens>{9, 3, 0}, std::vector<int>{0, 1, 2}, 1, 3);
    EXPECT_THAT(plan.counts, ElementsAre(0, 1, 8,  //
                                         0, 3, 0,  //
                                         0, 0, 0));
}

TEST(LazarusDispatch, GivesTiesOfTheRemainderToTheLowerRank) {
    // Seven tokens over two replicas: capacities 4 and 3.
    const DispatchPlan plan =
        plan_dispatch(std::vector<Tokens>{0, 0, 7}, std::vector<int>{1, 1, 0}, 1, 3);
    EXPECT_EQ(plan.at(0, 2, 0), 4);
    EXPECT_EQ(plan.at(0, 2, 1), 3);
}

TEST(LazarusDispatch, LosesNoTokenWhereFloorsWouldLeaveNoCapacity) {
    // One token for two replicas: the floor of both capacities is zero.
    const DispatchPlan plan =
        plan_dispatch(std::vector<Tokens>{0, 0, 1}, std::vector<int>{1, 1, 0}, 1, 3);
    EXPECT_THAT(plan.counts, ElementsAre(0, 0, 0, 0, 0, 0, 1, 0, 0));
}

TEST(LazarusDispatch, ConservesTokensBalancesReplicasAndPrefersLocalOnes) {
    std::mt19937_64 random(41);
    for (int trial = 0; trial < 5000; ++trial) {
        const Instance instance = random_instance(random);
        const DispatchPlan plan = instance.plan();
        for (int e = 0; e < instance.experts; ++e) {
            const long double per_replica =
                static_cast<long double>(instance.total(e)) / instance.holders(e);
            for (int rank = 0; rank < instance.ranks; ++rank) {
                Tokens sent = 0, received = 0;
                for (int other = 0; other < instance.ranks; ++other) {
                    ASSERT_GE(plan.at(e, rank, other), 0);
                    sent += plan.at(e, rank, other);
                    received += plan.at(e, other, rank);
                }
                const Tokens own = instance.tokens[instance.at(e, rank)];
                const long double ideal = per_replica * instance.replicas[instance.at(e, rank)];
                ASSERT_EQ(sent, own);
                ASSERT_LT(std::abs(static_cast<long double>(received) - ideal), 1.0L);
                // A rank sends tokens away only when it is full with its own.
                ASSERT_EQ(plan.at(e, rank, rank), std::min(own, received));
            }
        }
    }
}

TEST(LazarusDispatch, TreatsExpertsIndependently) {
    std::mt19937_64 random(43);
    for (int trial = 0; trial < 200; ++trial) {
        const Instance instance = random_instance(random);
        Instance reversed = instance;
        for (int e = 0; e < instance.experts; ++e) {
            for (int rank = 0; rank < instance.ranks; ++rank) {
                reversed.tokens[instance.at(instance.experts - 1 - e, rank)] =
                    instance.tokens[instance.at(e, rank)];
                reversed.replicas[instance.at(instance.experts - 1 - e, rank)] =
                    instance.replicas[instance.at(e, rank)];
            }
        }
        const DispatchPlan a = instance.plan(), b = reversed.plan();
        for (int e = 0; e < instance.experts; ++e) {
            for (int s = 0; s < instance.ranks; ++s) {
                for (int d = 0; d < instance.ranks; ++d) {
                    ASSERT_EQ(a.at(e, s, d), b.at(instance.experts - 1 - e, s, d));
                }
            }
        }
    }
}

// Where no rounding happens the plan is the paper's formula, whatever the ranks are called.
TEST(LazarusDispatch, FollowsARenamingOfTheRanksWhereNothingIsRounded) {
    std::mt19937_64 random(47);
    for (int trial = 0; trial < 200; ++trial) {
        Instance instance = random_instance(random);
        // A multiple of every divisor that can occur: replicas (up to 18) and free capacities stay
        // whole for a single source.
        for (int e = 0; e < instance.experts; ++e) {
            const auto source =
                static_cast<std::size_t>(random() % static_cast<unsigned>(instance.ranks));
            for (int rank = 0; rank < instance.ranks; ++rank)
                instance.tokens[instance.at(e, rank)] = 0;
            instance.tokens[instance.at(e, 0) + source] =
                Tokens{12252240} * static_cast<Tokens>(random() % 50);
        }
        Instance turned = instance;
        auto next = [&](int rank) { return (rank + 1) % instance.ranks; };
        for (int e = 0; e < instance.experts; ++e) {
            for (int rank = 0; rank < instance.ranks; ++rank) {
                turned.tokens[instance.at(e, next(rank))] = instance.tokens[instance.at(e, rank)];
                turned.replicas[instance.at(e, next(rank))] =
                    instance.replicas[instance.at(e, rank)];
            }
        }
        const DispatchPlan a = instance.plan(), b = turned.plan();
        for (int e = 0; e < instance.experts; ++e) {
            for (int s = 0; s < instance.ranks; ++s) {
                for (int d = 0; d < instance.ranks; ++d)
                    ASSERT_EQ(a.at(e, s, d), b.at(e, next(s), next(d)));
            }
        }
    }
}

TEST(LazarusDispatch, ReusesAPlanOfAnotherShape) {
    std::mt19937_64 random(53);
    DispatchPlan reused;
    for (int trial = 0; trial < 100; ++trial) {
        const Instance instance = random_instance(random);
        plan_dispatch(instance.tokens, instance.replicas, instance.experts, instance.ranks, reused);
        EXPECT_EQ(reused.counts, instance.plan().counts);
    }
}

TEST(LazarusDispatch, StaysExactNearTheLargestCounts) {
    const Tokens half = Tokens{1} << 61;
    const DispatchPlan plan =
        plan_dispatch(std::vector<Tokens>{half, half, 0}, std::vector<int>{0, 0, 2}, 1, 3);
    EXPECT_EQ(plan.at(0, 0, 2), half);
    EXPECT_EQ(plan.at(0, 1, 2), half);
    EXPECT_THROW(plan_dispatch(std::vector<Tokens>{half, half, 1}, std::vector<int>{0, 0, 2}, 1, 3),
                 UserError);
}

TEST(LazarusDispatch, RefusesWhatCannotBeRouted) {
    EXPECT_THROW(plan_dispatch(std::vector<Tokens>{1, 1}, std::vector<int>{0, 0}, 1, 2), UserError);
    EXPECT_THROW(plan_dispatch(std::vector<Tokens>{1, -1}, std::vector<int>{1, 0}, 1, 2),
                 UserError);
    EXPECT_THROW(plan_dispatch(std::vector<Tokens>{1}, std::vector<int>{1, 0}, 1, 2), UserError);
    EXPECT_EQ(plan_dispatch(std::vector<Tokens>{0, 0}, std::vector<int>{0, 0}, 1, 2).at(0, 0, 1),
              0);
}

TEST(LazarusDispatch, CountsReplicasOfAPlacement) {
    EXPECT_THAT(replica_counts({{0, 0, 1}, {1, 2, 2}}, 3), ElementsAre(2, 0, 1, 1, 0, 2));
    EXPECT_THROW(replica_counts({{3}}, 3), UserError);
}

TEST(LazarusRankLayout, OrdersBuffersByPeerThenExpert) {
    // Two experts, two ranks; expert 0 on rank 0 only, expert 1 on rank 1 only.
    const DispatchPlan plan =
        plan_dispatch(std::vector<Tokens>{3, 2, 4, 1}, std::vector<int>{1, 0, 0, 1}, 2, 2);
    const RankLayout layout = rank_layout(plan, 0);
    EXPECT_THAT(layout.send_counts, ElementsAre(3, 4));
    EXPECT_THAT(layout.receive_counts, ElementsAre(3, 2));
    EXPECT_EQ(layout.to(0, 0).first_row, 0);
    EXPECT_EQ(layout.to(1, 1).first_row, 3);
    EXPECT_EQ(layout.from(1, 0).first_row, 3);
    EXPECT_EQ(layout.from(1, 0).rows, 2);
    EXPECT_EQ(layout.send_total, 7);
    EXPECT_EQ(layout.receive_total, 5);
}

TEST(LazarusRankLayout, AgreesOnBothSidesAndCoversEveryTokenOnce) {
    std::mt19937_64 random(59);
    for (int trial = 0; trial < 500; ++trial) {
        const Instance instance = random_instance(random);
        const DispatchPlan plan = instance.plan();
        std::vector<RankLayout> layouts;
        for (int rank = 0; rank < instance.ranks; ++rank)
            layouts.push_back(rank_layout(plan, rank));
        for (int rank = 0; rank < instance.ranks; ++rank) {
            const RankLayout& layout = layouts[static_cast<std::size_t>(rank)];
            Tokens send_row = 0, receive_row = 0;
            std::vector<Tokens> ordinal(static_cast<std::size_t>(instance.experts), 0);
            for (int peer = 0; peer < instance.ranks; ++peer) {
                const RankLayout& other = layouts[static_cast<std::size_t>(peer)];
                ASSERT_EQ(layout.send_counts[static_cast<std::size_t>(peer)],
                          other.receive_counts[static_cast<std::size_t>(rank)]);
                for (int e = 0; e < instance.experts; ++e) {
                    const Segment& out = layout.to(peer, e);
                    ASSERT_EQ(out.rows, other.from(rank, e).rows);
                    ASSERT_EQ(out.first_row, send_row);
                    ASSERT_EQ(out.first_ordinal, ordinal[static_cast<std::size_t>(e)]);
                    send_row += out.rows;
                    ordinal[static_cast<std::size_t>(e)] += out.rows;
                    ASSERT_EQ(layout.from(peer, e).first_row, receive_row);
                    receive_row += layout.from(peer, e).rows;
                }
            }
            ASSERT_EQ(send_row, layout.send_total);
            ASSERT_EQ(receive_row, layout.receive_total);
            for (int e = 0; e < instance.experts; ++e) {
                ASSERT_EQ(ordinal[static_cast<std::size_t>(e)],
                          instance.tokens[instance.at(e, rank)]);
            }
        }
    }
}

TEST(LazarusRankLayout, RefusesARankThatIsNotThere) {
    const DispatchPlan plan = plan_dispatch(std::vector<Tokens>{1}, std::vector<int>{1}, 1, 1);
    EXPECT_THROW(rank_layout(plan, 1), UserError);
    EXPECT_THROW(rank_layout(plan, -1), UserError);
}

}  // namespace
}  // namespace assay::lazarus
