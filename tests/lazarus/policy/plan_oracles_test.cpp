// The planner's fast ways against the definitions that its headers state, written out plainly here:
// node mapping, transfers, vacancies, the sharing out of a checkpoint.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include "impls/lazarus/policy/controller/reconfiguration.hpp"
#include "impls/lazarus/policy/plan/allocation.hpp"
#include "impls/lazarus/policy/plan/mro.hpp"
#include "impls/lazarus/policy/plan/node_mapping.hpp"
#include "impls/lazarus/policy/plan/placement.hpp"
#include "impls/lazarus/policy/plan/transfer_plan.hpp"

namespace assay::lazarus {
namespace {

int below(std::mt19937_64& random, int bound) {
    return static_cast<int>(random() % static_cast<unsigned>(bound));
}

bool holds(const std::vector<int>& node, int expert) {
    return std::find(node.begin(), node.end(), expert) != node.end();
}

// ---- what cases are made of --------------------------------------------------------------------

// Up to `slots` experts per node, repeated and in any order; of few distinct lists or of many.
Placement random_nodes(std::mt19937_64& random, int nodes, int experts, int slots) {
    Placement lists(static_cast<std::size_t>(1 + below(random, random() % 2 == 0 ? 3 : nodes)));
    for (auto& list : lists) {
        for (int i = below(random, slots + 1); i > 0; --i) list.push_back(below(random, experts));
    }
    Placement result;
    for (int n = 0; n < nodes; ++n) {
        result.push_back(lists[random() % lists.size()]);
        std::shuffle(result.back().begin(), result.back().end(), random);
    }
    return result;
}

Loads random_loads(std::mt19937_64& random, int experts) {
    Loads loads(static_cast<std::size_t>(experts));
    const bool skewed = random() % 2 == 0;
    for (Tokens& t : loads)
        t = skewed ? 1 + below(random, 100) * below(random, 100) : below(random, 3);
    return loads;
}

// What is held and wanted, [layer][node]: lists at random, or plans of some policy for two loads,
// shuffled over the nodes, with joiners that hold nothing.
std::pair<ModelPlacement, ModelPlacement> random_change(std::mt19937_64& random, int layers) {
    const int nodes = 1 + below(random, 24), slots = 1 + below(random, 6);
    const int experts = 1 + below(random, nodes * slots);
    std::pair<ModelPlacement, ModelPlacement> change;
    for (int layer = 0; layer < layers; ++layer) {
        for (ModelPlacement* side : {&change.first, &change.second}) {
            if (random() % 3 == 0) {
                side->push_back(random_nodes(random, nodes, experts, slots));
                continue;
            }
            const Replicas replicas =
                allocate(random_loads(random, experts), nodes, slots, 2).replicas;
            const auto policy = static_cast<PlacementPolicy>(below(random, 3));
            side->push_back(place(policy, replicas, nodes, slots));
        }
        Placement& held = change.first.back();
        if (random() % 2 == 0) std::shuffle(held.begin(), held.end(), random);
        for (int joiners = below(random, 4); joiners > 0; --joiners)
            held[random() % held.size()].clear();
    }
    return change;
}

// ---- the definitions ---------------------------------------------------------------------------

NodeMapping cheapest_pairs_first(const ModelPlacement& held, const ModelPlacement& plan) {
    const std::size_t nodes = held[0].size();
    std::vector<std::vector<int>> cost(nodes, std::vector<int>(nodes, 0));
    for (std::size_t layer = 0; layer < held.size(); ++layer) {
        for (std::size_t p = 0; p < nodes; ++p) {
            for (std::size_t q = 0; q < nodes; ++q) {
                for (int e : std::set<int>(plan[layer][q].begin(), plan[layer][q].end()))
                    cost[p][q] += !holds(held[layer][p], e);
            }
        }
    }
    NodeMapping mapping(nodes, -1);
    std::vector<bool> taken(nodes, false);
    for (std::size_t mapped = 0; mapped < nodes; ++mapped) {
        int least = std::numeric_limits<int>::max();
        std::pair<std::size_t, std::size_t> pair;
        for (std::size_t p = 0; p < nodes; ++p) {
            for (std::size_t q = 0; q < nodes; ++q) {
                if (mapping[p] >= 0 || taken[q] || cost[p][q] >= least) continue;
                least = cost[p][q];
                pair = {p, q};
            }
        }
        mapping[pair.first] = static_cast<int>(pair.second);
        taken[pair.second] = true;
    }
    return mapping;
}

std::vector<ExpertTransfer> least_loaded_holders(const ModelPlacement& held,
                                                 const ModelPlacement& needed, int experts) {
    std::vector<ExpertTransfer> transfers;
    std::map<int, int> scheduled;
    for (std::size_t layer = 0; layer < held.size(); ++layer) {
        for (int e = 0; e < experts; ++e) {
            for (std::size_t to = 0; to < needed[layer].size(); ++to) {
                if (!holds(needed[layer][to], e) || holds(held[layer][to], e)) continue;
                int from = -1;
                for (int node = 0; node < static_cast<int>(held[layer].size()); ++node) {
                    if (!holds(held[layer][static_cast<std::size_t>(node)], e)) continue;
                    if (from < 0 || scheduled[node] < scheduled[from]) from = node;
                }
                ++scheduled[from];
                transfers.push_back({from, static_cast<int>(to), static_cast<int>(layer), e});
            }
        }
    }
    std::sort(transfers.begin(), transfers.end(), [](const auto& a, const auto& b) {
        return std::tie(a.from, a.to, a.layer, a.expert) <
               std::tie(b.from, b.to, b.layer, b.expert);
    });
    return transfers;
}

// place_blocks() with nobody's buckets: each leftover replica looks at every node.
Placement fill_one_by_one(const Replicas& replicas, int nodes, int slots, int whole, int block) {
    std::vector<int> order(replicas.size());
    for (std::size_t e = 0; e < order.size(); ++e) order[e] = static_cast<int>(e);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
        return replicas[static_cast<std::size_t>(a)] < replicas[static_cast<std::size_t>(b)];
    });
    const auto all = static_cast<std::size_t>(nodes), room = static_cast<std::size_t>(slots);
    Placement placement(all);
    Replicas left = replicas;
    std::size_t cursor = 0;
    for (std::size_t low = 0, number = 0; low < order.size(); ++number) {
        const auto size =
            static_cast<std::size_t>(static_cast<int>(number) < whole ? slots : block);
        const std::size_t high = std::min(order.size(), low + size);
        int wanted = replicas[static_cast<std::size_t>(order[low])];
        for (std::size_t tried = 0; wanted > 0 && tried < all; ++tried, ++cursor) {
            auto& node = placement[cursor % all];
            if (node.size() + (high - low) > room) continue;
            for (std::size_t i = low; i < high; ++i) {
                node.push_back(order[i]);
                --left[static_cast<std::size_t>(order[i])];
            }
            --wanted;
        }
        low = high;
    }
    for (auto expert = order.rbegin(); expert != order.rend(); ++expert) {
        for (int& count = left[static_cast<std::size_t>(*expert)]; count > 0; --count) {
            std::vector<int>* best = nullptr;
            for (auto& node : placement) {
                if (node.size() == room) continue;
                const auto rank = [&](const std::vector<int>& of) {
                    return std::pair(holds(of, *expert), of.size());
                };
                if (best == nullptr || rank(node) < rank(*best)) best = &node;
            }
            best->push_back(*expert);
        }
    }
    for (auto& node : placement) std::sort(node.begin(), node.end());
    return placement;
}

// ---- the comparisons ---------------------------------------------------------------------------

TEST(LazarusPlanOracles, MappingTakesTheCheapestPairFirst) {
    std::mt19937_64 random(101);
    for (int trial = 0; trial < 1500; ++trial) {
        const auto [held, plan] = random_change(random, 1);
        ASSERT_EQ(map_nodes(held[0], plan[0]), cheapest_pairs_first(held, plan)) << trial;
    }
}

TEST(LazarusPlanOracles, JointMappingTakesThePairThatIsCheapestInAllLayers) {
    std::mt19937_64 random(103);
    for (int trial = 0; trial < 500; ++trial) {
        ModelPlacement held, plan;
        // Layers of one shape: those of different draws may differ in nodes.
        for (int wanted = 1 + below(random, 4); static_cast<int>(held.size()) < wanted;) {
            auto [has, wants] = random_change(random, 1);
            if (!held.empty() && has[0].size() != held[0].size()) continue;
            held.push_back(std::move(has[0]));
            plan.push_back(std::move(wants[0]));
        }
        ASSERT_EQ(map_nodes_jointly(held, plan), cheapest_pairs_first(held, plan)) << trial;
    }
}

// Every node a set of its own, on both sides: nothing to gain from classes.
TEST(LazarusPlanOracles, MappingManyDistinctSets) {
    std::mt19937_64 random(105);
    Placement held, plan;
    for (int n = 0; n < 150; ++n) {
        for (Placement* side : {&held, &plan}) {
            std::vector<int> node;
            for (int i = 0; i < 12; ++i) node.push_back(below(random, 64));
            side->push_back(std::move(node));
        }
    }
    EXPECT_EQ(map_nodes(held, plan), cheapest_pairs_first({held}, {plan}));
}

TEST(LazarusPlanOracles, TransfersComeFromTheHolderWithTheFewest) {
    std::mt19937_64 random(107);
    int planned = 0;
    for (int trial = 0; trial < 2000; ++trial) {
        auto [held, needed] = random_change(random, 1 + below(random, 3));
        int experts = 0;
        for (const auto& layer : needed) {
            for (const auto& node : layer) {
                for (int e : node) experts = std::max(experts, e + 1);
            }
        }
        if (!recoverable(held, experts)) continue;
        ++planned;
        ASSERT_EQ(plan_transfers(held, needed), least_loaded_holders(held, needed, experts));
    }
    EXPECT_GT(planned, 200);
}

TEST(LazarusPlanOracles, LeftoverReplicasGoToTheEmptiestNodesWithoutThem) {
    std::mt19937_64 random(109);
    for (int trial = 0; trial < 1500; ++trial) {
        const int nodes = 1 + below(random, 16), slots = 1 + below(random, 7);
        const int experts = 1 + below(random, nodes * slots);
        const Replicas replicas =
            allocate(random_loads(random, experts), nodes, slots, 1 + below(random, 3)).replicas;
        const int whole = below(random, 4), block = 1 + below(random, slots);
        ASSERT_EQ(place_blocks(replicas, nodes, slots, {.whole = whole, .block = block}),
                  fill_one_by_one(replicas, nodes, slots, whole, block));
        if (experts > slots) {
            ASSERT_EQ(place_mro(replicas, nodes, slots),
                      fill_one_by_one(replicas, nodes, slots, 0, slots));
        }
    }
}

TEST(LazarusPlanOracles, CheckpointsAreWrittenByTheHolderWithTheLeastToWrite) {
    std::mt19937_64 random(113);
    for (int trial = 0; trial < 200; ++trial) {
        const int nodes = 2 + below(random, 8), slots = 1 + below(random, 5), layers = 3;
        const int experts = 1 + below(random, nodes * slots);
        std::vector<Worker> workers;
        for (int n = 0; n < nodes; ++n) workers.push_back(3 * n + 1);
        std::vector<Loads> loads;
        for (int layer = 0; layer < layers; ++layer) loads.push_back(random_loads(random, experts));
        const auto plan = make_model_plan(loads, nodes, slots, 2, PlacementPolicy::mro).placement;
        Holdings holdings(layers, experts);
        holdings.assign(workers, plan);

        std::map<Worker, int> parts;
        std::vector<std::vector<Worker>> expected;
        for (const Placement& layer : plan) {
            auto& owners = expected.emplace_back();
            for (int e = 0; e < experts; ++e) {
                Worker owner = -1;
                for (std::size_t n = 0; n < layer.size(); ++n) {
                    if (!holds(layer[n], e)) continue;
                    if (owner < 0 || parts[workers[n]] < parts[owner]) owner = workers[n];
                }
                ++parts[owner];
                owners.push_back(owner);
            }
        }
        ASSERT_EQ(holdings.share_out_writing(), expected);
    }
}

}  // namespace
}  // namespace assay::lazarus
