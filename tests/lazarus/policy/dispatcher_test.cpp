// Every kind of dispatcher without its table: the part of a rank entry by entry, totals of all
// ranks, and how much stays inside nodes and racks, against the table of pairs as the oracle.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "impls/lazarus/policy/dispatch/dispatcher.hpp"
#include "suite/base/error.hpp"

namespace assay::lazarus {
namespace {

struct Instance {
    DispatchRule rule;
    int experts, ranks;
    Placement holders;
    std::vector<Tokens> tokens;
    RankSites sites;
};

int draw(std::mt19937_64& random, int most) {
    return static_cast<int>(random() % static_cast<std::uint64_t>(most));
}

// Ranks in any order on a few nodes, nodes in a few racks.
RankSites random_sites(std::mt19937_64& random, int ranks) {
    RankSites sites;
    sites.nodes = 1 + draw(random, ranks), sites.racks = 1 + draw(random, 3);
    std::vector<int> on(nth(sites.nodes), 0);
    for (int rank = 0; rank < ranks; ++rank) {
        sites.node.push_back(draw(random, sites.nodes));
        sites.rack.push_back(sites.node.back() % sites.racks);
        sites.several_per_node |= ++on[nth(sites.node.back())] > 1;
    }
    return sites;
}

std::vector<Tokens> random_tokens(std::mt19937_64& random, std::size_t size, int bits) {
    std::vector<Tokens> tokens;
    for (std::size_t i = 0; i < size; ++i)
        tokens.push_back(
            random() % 4 == 0 ? 0 : static_cast<Tokens>(random() % (std::uint64_t{1} << bits)));
    return tokens;
}

Instance flexible(std::mt19937_64& random, int most = 9) {
    Instance one;
    one.experts = 1 + draw(random, most), one.ranks = 1 + draw(random, most);
    one.holders.resize(nth(one.ranks));
    for (int e = 0; e < one.experts; ++e)
        for (int copies = 1 + draw(random, 4); copies > 0; --copies)
            one.holders[nth(draw(random, one.ranks))].push_back(e);
    one.tokens = random_tokens(random, nth(one.experts * one.ranks), 1 + draw(random, 40));
    one.sites = random_sites(random, one.ranks);
    return one;
}

Instance padded(std::mt19937_64& random) {
    Instance one;
    const int group = 1 + draw(random, 4), each = 1 + draw(random, 3), groups = 1 + draw(random, 3);
    one.rule = DispatchRule::padded_in(group);
    one.experts = group * each, one.ranks = group * groups;
    for (int rank = 0; rank < one.ranks; ++rank) {
        auto& held = one.holders.emplace_back();
        for (int e = 0; e < each; ++e) held.push_back(rank % group * each + e);
    }
    std::shuffle(one.holders.begin(), one.holders.end(), random);
    one.tokens = random_tokens(random, nth(one.experts * one.ranks), 1 + draw(random, 20));
    one.sites = random_sites(random, one.ranks);
    return one;
}

/// In the same groups, with rows that spill.
Instance spilling(std::mt19937_64& random) {
    Instance one = padded(random);
    one.rule.kind = DispatchRule::Kind::spill;
    one.rule.limits = {.capacity = 1 + 0.1 * draw(random, 3), .fewest = 1 + draw(random, 100)};
    return one;
}

void expect_equal(const std::vector<Segment>& a, const std::vector<Segment>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
        ASSERT_EQ(a[i].rows, b[i].rows) << i;
        ASSERT_EQ(a[i].room, b[i].room) << i;
        ASSERT_EQ(a[i].first_row, b[i].first_row) << i;
        ASSERT_EQ(a[i].first_ordinal, b[i].first_ordinal) << i;
    }
}

void expect_layouts_of_the_table(const Instance& one) {
    const auto dispatcher = make_dispatcher(one.rule, one.holders, one.experts);
    DispatchPlan plan;
    dispatcher->table(one.tokens, plan);
    RankLayout found;
    for (int rank = 0; rank < one.ranks; ++rank) {
        const RankLayout wanted = rank_layout(plan, rank);
        dispatcher->layout(one.tokens, rank, found);  // into what the rank before left there
        expect_equal(found.send, wanted.send);
        expect_equal(found.receive, wanted.receive);
        ASSERT_EQ(found.send_counts, wanted.send_counts);
        ASSERT_EQ(found.receive_counts, wanted.receive_counts);
        ASSERT_EQ(found.send_total, wanted.send_total);
        ASSERT_EQ(found.receive_total, wanted.receive_total);
    }
}

TEST(LazarusDispatcher, GivesEachRankItsPartOfTheTable) {
    std::mt19937_64 random(71);
    for (int trial = 0; trial < 1000 && !testing::Test::HasFatalFailure(); ++trial) {
        expect_layouts_of_the_table(flexible(random));
        expect_layouts_of_the_table(padded(random));
        expect_layouts_of_the_table(spilling(random));
    }
    for (int trial = 0; trial < 5 && !testing::Test::HasFatalFailure(); ++trial)
        expect_layouts_of_the_table(flexible(random, 70));
}

/// What the table adds up to.
ExchangeTotals summed(const Instance& one) {
    DispatchPlan plan;
    make_dispatcher(one.rule, one.holders, one.experts)->table(one.tokens, plan);
    ExchangeTotals all{std::vector<double>(nth(one.ranks)),
                       std::vector<RankTraffic>(nth(one.ranks))};
    for (int e = 0; e < one.experts; ++e) {
        for (int from = 0; from < one.ranks; ++from) {
            for (int to = 0; to < one.ranks; ++to) {
                const auto rows = static_cast<double>(plan.room(e, from, to));
                all.computed[nth(to)] += rows;
                add_message(all.traffic, one.sites, from, to, rows);
            }
        }
    }
    return all;
}

void expect_near(const Traffic& a, const Traffic& b, double rows) {
    ASSERT_NEAR(a.inside_node, b.inside_node, rows);
    ASSERT_NEAR(a.inside_rack, b.inside_rack, rows);
    ASSERT_NEAR(a.between_racks, b.between_racks, rows);
}

TEST(LazarusDispatcher, TotalsAreThoseOfTheTable) {
    std::mt19937_64 random(73);
    for (int trial = 0; trial < 1000 && !testing::Test::HasFatalFailure(); ++trial) {
        Instance one = trial % 4 == 3   ? spilling(random)
                       : trial % 4 == 1 ? padded(random)
                                        : flexible(random);
        if (trial % 3 == 0) one.sites = RankSites::apart(one.ranks);
        const auto found =
            make_dispatcher(one.rule, one.holders, one.experts)->totals(one.tokens, one.sites);
        const auto wanted = summed(one);
        ASSERT_EQ(found.computed, wanted.computed);
        for (std::size_t rank = 0; rank < wanted.traffic.size(); ++rank) {
            const RankTraffic &a = found.traffic[rank], &b = wanted.traffic[rank];
            ASSERT_NEAR(a.sent.total(), b.sent.total(), 1e-9 * b.sent.total());
            ASSERT_NEAR(a.received.total(), b.received.total(), 1e-9 * b.received.total());
            // Rounding moves less than a row per expert and pair of ranks.
            const bool exact = trial % 2 || one.sites.all_apart();
            const double noise = 1e-9 * (b.sent.total() + b.received.total());
            expect_near(a.sent, b.sent, exact ? noise : one.experts * one.ranks);
            expect_near(a.received, b.received, exact ? noise : one.experts * one.ranks);
        }
    }
}

TEST(LazarusDispatcher, RefusesWhatIsNoDispatch) {
    const auto both = make_dispatcher({}, {{0}, {1}}, 2);
    const RankSites sites = RankSites::apart(2);
    RankLayout layout;
    EXPECT_THROW(both->totals(std::vector<Tokens>{1, 2, 3}, sites), UserError);
    EXPECT_THROW(both->totals(std::vector<Tokens>{1, 2, 3, -1}, sites), UserError);
    EXPECT_THROW(both->layout(std::vector<Tokens>{1, 2, 3, -1}, 0, layout), UserError);
    EXPECT_THROW(both->layout(std::vector<Tokens>{1, 2, 3, 4}, 2, layout), UserError);
    const auto lacking = make_dispatcher({}, {{0}, {0}}, 2);
    EXPECT_THROW(lacking->totals(std::vector<Tokens>{1, 2, 0, 4}, sites), UserError);
    EXPECT_THROW(lacking->layout(std::vector<Tokens>{1, 2, 0, 4}, 0, layout), UserError);
    EXPECT_NO_THROW(lacking->totals(std::vector<Tokens>{1, 2, 0, 0}, sites));
    const auto padded = make_dispatcher(DispatchRule::padded_in(2), {{0}, {1}}, 2);
    EXPECT_THROW(padded->totals(std::vector<Tokens>{1, 2, 3, -1}, sites), UserError);
    EXPECT_THROW(padded->layout(std::vector<Tokens>{1, 2, 3, 4}, 2, layout), UserError);
    DispatchRule spill = DispatchRule::padded_in(2);
    spill.kind = DispatchRule::Kind::spill;
    const auto spilling = make_dispatcher(spill, {{0}, {1}}, 2);
    EXPECT_THROW(spilling->totals(std::vector<Tokens>{1, 2, 3}, sites), UserError);
    EXPECT_THROW(spilling->layout(std::vector<Tokens>{1, 2, 3, 4}, 2, layout), UserError);
    EXPECT_THROW(make_dispatcher({}, {{2}}, 2), UserError);
    EXPECT_THROW(make_dispatcher(DispatchRule::padded_in(2), {{0}, {0}}, 2), UserError);
}

}  // namespace
}  // namespace assay::lazarus
