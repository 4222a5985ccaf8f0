// Node mapping and transfer plans: what they must achieve, and how far greedy is from the best.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "impls/lazarus/policy/plan/node_mapping.hpp"
#include "impls/lazarus/policy/plan/placement.hpp"
#include "impls/lazarus/policy/plan/transfer_plan.hpp"
#include "suite/base/error.hpp"

namespace assay::lazarus {
namespace {

using testing::ElementsAre;

int missing(const std::vector<int>& held, const std::vector<int>& wanted) {
    const std::set<int> has(held.begin(), held.end()), wants(wanted.begin(), wanted.end());
    return static_cast<int>(
        std::count_if(wants.begin(), wants.end(), [&](int e) { return has.count(e) == 0; }));
}

int cost(const Placement& held, const Placement& plan, const NodeMapping& mapping) {
    int sum = 0;
    for (std::size_t p = 0; p < held.size(); ++p)
        sum += missing(held[p], plan[static_cast<std::size_t>(mapping[p])]);
    return sum;
}

int least_cost(const Placement& held, const Placement& plan) {
    NodeMapping mapping(held.size());
    std::iota(mapping.begin(), mapping.end(), 0);
    int best = std::numeric_limits<int>::max();
    do best = std::min(best, cost(held, plan, mapping));
    while (std::next_permutation(mapping.begin(), mapping.end()));
    return best;
}

bool is_permutation(const NodeMapping& mapping) {
    std::set<int> nodes(mapping.begin(), mapping.end());
    return nodes.size() == mapping.size() &&
           (nodes.empty() ||
            (*nodes.begin() == 0 && *nodes.rbegin() + 1 == static_cast<int>(nodes.size())));
}

std::vector<Loads> random_loads(std::mt19937_64& random, int layers, int experts) {
    std::vector<Loads> loads(static_cast<std::size_t>(layers),
                             Loads(static_cast<std::size_t>(experts)));
    for (Loads& layer : loads) {
        for (Tokens& t : layer) t = static_cast<Tokens>(1 + random() % 1000);
    }
    return loads;
}

TEST(LazarusMapping, LeavesNodesThatAlreadyHoldTheirExperts) {
    const Placement plan = {{0, 1}, {2, 3}, {1, 1}};
    EXPECT_THAT(map_nodes({{2, 3}, {1}, {0, 1, 5}}, plan), ElementsAre(1, 2, 0));
    EXPECT_EQ(apply_mapping(plan, {1, 2, 0}), (Placement{{2, 3}, {1, 1}, {0, 1}}));
}

TEST(LazarusMapping, BreaksTiesByLowerPhysicalThenLowerPlanNode) {
    EXPECT_THAT(map_nodes({{}, {}, {}}, {{0}, {1}, {2}}), ElementsAre(0, 1, 2));
    // Both physical nodes could take plan node 0 for nothing; the lower one does.
    EXPECT_THAT(map_nodes({{0}, {0}}, {{0}, {1}}), ElementsAre(0, 1));
}

TEST(LazarusMapping, TakesTheCheapestPairFirst) {
    // Node 0 needs one expert for either plan node, node 1 none for plan node 0.
    EXPECT_THAT(map_nodes({{0, 2}, {0, 1}}, {{0, 1}, {2, 3}}), ElementsAre(1, 0));
}

TEST(LazarusMapping, CountsDistinctExpertsOnly) {
    // Plan node 0 needs one new expert (three times), plan node 1 two.
    EXPECT_THAT(map_nodes({{9}}, {{4, 4, 4}}), ElementsAre(0));
    EXPECT_THAT(map_nodes({{1, 2}, {7}}, {{4, 4, 4}, {5, 6, 7}}), ElementsAre(0, 1));
}

// Greedy is a heuristic: at most twice the optimum plus one expert per node on these sizes, and
// never more than fetching everything.
TEST(LazarusMapping, StaysNearTheBestMapping) {
    std::mt19937_64 random(61);
    long greedy_sum = 0, best_sum = 0;
    for (int trial = 0; trial < 150; ++trial) {
        const int nodes = 3 + static_cast<int>(random() % 4);
        const ModelPlan before =
            make_model_plan(random_loads(random, 1, 8), nodes + 1, 3, 1, PlacementPolicy::mro);
        const ModelPlan after =
            make_model_plan(random_loads(random, 1, 8), nodes, 3, 1, PlacementPolicy::mro);
        Placement held = before.placement[0];
        held.erase(held.begin() + static_cast<long>(random() % held.size()));
        const NodeMapping mapping = map_nodes(held, after.placement[0]);
        ASSERT_TRUE(is_permutation(mapping));
        const int got = cost(held, after.placement[0], mapping),
                  best = least_cost(held, after.placement[0]);
        ASSERT_GE(got, best);
        ASSERT_LE(got, best + nodes);
        greedy_sum += got;
        best_sum += best;
    }
    EXPECT_LE(greedy_sum, best_sum * 11 / 10);
}

TEST(LazarusMapping, CostsNothingWhenThePlanIsThePresentOneInAnotherOrder) {
    std::mt19937_64 random(67);
    for (int trial = 0; trial < 100; ++trial) {
        const ModelPlan plan =
            make_model_plan(random_loads(random, 3, 9), 7, 3, 1, PlacementPolicy::mro);
        ModelPlacement held = plan.placement;
        for (Placement& layer : held) std::rotate(layer.begin(), layer.begin() + 3, layer.end());
        EXPECT_TRUE(plan_transfers(held, map_layers(held, plan.placement)).empty());
        EXPECT_TRUE(plan_transfers(held, map_layers_jointly(held, plan.placement)).empty());
    }
}

TEST(LazarusMapping, MapsWholeNodesAlikeInAllLayersWhenAsked) {
    const ModelPlacement held = {{{0}, {1}}, {{1}, {0}}};
    const ModelPlacement plan = {{{1}, {0}}, {{1}, {0}}};
    EXPECT_EQ(map_layers(held, plan), held);
    // Jointly, one of the layers has to move: (0 → 0) and (0 → 1) cost one expert each, ties to the
    // lower.
    EXPECT_THAT(map_nodes_jointly(held, plan), ElementsAre(0, 1));
    EXPECT_EQ(map_layers_jointly(held, plan), plan);
}

TEST(LazarusMapping, RefusesShapesThatDoNotMatch) {
    EXPECT_THROW(map_nodes({{0}}, {{0}, {1}}), UserError);
    EXPECT_THROW(map_nodes({{-1}}, {{0}}), UserError);
    EXPECT_THROW(map_layers({{{0}}}, {}), UserError);
    EXPECT_THROW(map_nodes_jointly({{{0}}, {{0}, {1}}}, {{{0}}, {{0}, {1}}}), UserError);
}

TEST(LazarusTransfers, FetchesOnlyWhatIsMissing) {
    EXPECT_THAT(plan_transfers({{{0, 1}, {1, 2}}}, {{{0, 2}, {1, 1, 2}}}),
                ElementsAre(ExpertTransfer{.from = 1, .to = 0, .layer = 0, .expert = 2}));
}

TEST(LazarusTransfers, SpreadsAnExpertOverAllItsHolders) {
    const auto transfers =
        plan_transfers({{{0}, {0}, {}, {}, {}, {}}}, {{{0}, {0}, {0}, {0}, {0}, {0}}});
    std::map<int, int> by_source;
    for (const ExpertTransfer& t : transfers) ++by_source[t.from];
    EXPECT_THAT(by_source, ElementsAre(std::pair(0, 2), std::pair(1, 2)));
}

TEST(LazarusTransfers, LetsALeaverServeWithoutNeedingAnything) {
    EXPECT_THAT(plan_transfers({{{0}, {}}}, {{{}, {0, 0}}}),
                ElementsAre(ExpertTransfer{.from = 0, .to = 1, .layer = 0, .expert = 0}));
}

TEST(LazarusTransfers, RefusesAnExpertWithoutAHolder) {
    EXPECT_THROW(plan_transfers({{{0}}}, {{{0, 1}}}), UserError);
    EXPECT_THROW(plan_transfers({{{0}}}, {{{0}, {0}}}), UserError);
    EXPECT_THROW(plan_transfers({{{0}}}, {}), UserError);
}

TEST(LazarusTransfers, FindsTheFirstLostExpert) {
    EXPECT_EQ(first_lost_expert({{{0, 1}, {2}}, {{0}, {2, 2}}}, 3),
              (LostExpert{.layer = 1, .expert = 1}));
    EXPECT_FALSE(recoverable({{{0, 1}, {2}}, {{0}, {2, 2}}}, 3));
    EXPECT_TRUE(recoverable({{{0, 1}, {2}}, {{1, 0}, {2, 2}}}, 3));
}

// After a failure: everybody ends up with what the plan says, from nodes that had it, in the stated
// order.
TEST(LazarusTransfers, CompletesEveryRecoverableFailure) {
    std::mt19937_64 random(71);
    int recovered = 0;
    for (int trial = 0; trial < 400; ++trial) {
        const int nodes = 4 + static_cast<int>(random() % 6), layers = 3, experts = 8;
        ModelPlacement held = make_model_plan(random_loads(random, layers, experts), nodes, 4, 2,
                                              PlacementPolicy::mro)
                                  .placement;
        const auto dead = static_cast<long>(random() % static_cast<unsigned>(nodes));
        for (Placement& layer : held) layer.erase(layer.begin() + dead);
        if (!recoverable(held, experts)) continue;
        ++recovered;
        const ModelPlan plan = make_model_plan(random_loads(random, layers, experts), nodes - 1, 4,
                                               2, PlacementPolicy::mro);
        const ModelPlacement needed = map_layers(held, plan.placement);
        const auto transfers = plan_transfers(held, needed);

        ModelPlacement after = held;
        std::set<std::tuple<int, int, int>> seen;
        for (const ExpertTransfer& t : transfers) {
            const auto& source =
                held[static_cast<std::size_t>(t.layer)][static_cast<std::size_t>(t.from)];
            auto& target = after[static_cast<std::size_t>(t.layer)][static_cast<std::size_t>(t.to)];
            ASSERT_THAT(source, testing::Contains(t.expert));
            ASSERT_THAT(held[static_cast<std::size_t>(t.layer)][static_cast<std::size_t>(t.to)],
                        testing::Not(testing::Contains(t.expert)));
            ASSERT_TRUE(seen.emplace(t.to, t.layer, t.expert).second);
            target.push_back(t.expert);
        }
        int needs = 0;
        for (std::size_t layer = 0; layer < needed.size(); ++layer) {
            for (std::size_t node = 0; node < needed[layer].size(); ++node) {
                ASSERT_EQ(missing(after[layer][node], needed[layer][node]), 0);
                needs += missing(held[layer][node], needed[layer][node]);
            }
        }
        ASSERT_EQ(static_cast<int>(transfers.size()), needs);
        ASSERT_TRUE(
            std::is_sorted(transfers.begin(), transfers.end(), [](const auto& a, const auto& b) {
                return std::tie(a.from, a.to, a.layer, a.expert) <
                       std::tie(b.from, b.to, b.layer, b.expert);
            }));
    }
    EXPECT_GT(recovered, 100);
}

}  // namespace
}  // namespace assay::lazarus
