#include "impls/lazarus/policy/plan/node_mapping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <span>
#include <unordered_map>
#include <utility>

#include "suite/base/error.hpp"

namespace assay::lazarus {
namespace {

// Numbers whatever lists of integers it is shown: equal ones alike, from 0 in order of appearance.
class Numbering {
  public:
    std::size_t number(const std::vector<int>& list) {
        return known_.try_emplace(list, known_.size()).first->second;
    }
    std::size_t size() const { return known_.size(); }

  private:
    struct Hash {
        std::size_t operator()(const std::vector<int>& list) const {
            std::uint64_t hash = list.size();
            for (int i : list) hash = (hash ^ static_cast<std::uint32_t>(i)) * 0x9e3779b97f4a7c15U;
            return hash ^ hash >> 32;
        }
    };
    std::unordered_map<std::vector<int>, std::size_t, Hash> known_;
};

// One side of one layer: the distinct sets of experts, and which of them each node has.
struct ExpertSets {
    std::vector<std::vector<int>> sets;  // each ascending, distinct
    std::vector<int> of_node;
};

ExpertSets expert_sets(const Placement& nodes) {
    ExpertSets result;
    Numbering known;
    std::vector<int> set;
    for (const std::vector<int>& node : nodes) {
        set = node;
        if (!std::is_sorted(set.begin(), set.end())) std::sort(set.begin(), set.end());
        set.erase(std::unique(set.begin(), set.end()), set.end());
        if (!set.empty() && set.front() < 0)
            throw UserError(fmt::format("mapping: expert id {}", set.front()));
        const std::size_t number = known.number(set);
        if (number == result.sets.size()) result.sets.push_back(set);
        result.of_node.push_back(static_cast<int>(number));
    }
    return result;
}

// Nodes of one side that have the same experts in every layer: a pair's cost depends on nothing
// else, and of such nodes the lowest is mapped first. Overlap makes for few classes.
struct NodeClasses {
    std::vector<std::vector<int>> nodes;  // [class], ascending
    std::vector<std::vector<int>> set;    // [layer][class]
};

NodeClasses classes_of(const std::vector<ExpertSets>& layers, std::size_t nodes) {
    NodeClasses classes{{}, std::vector<std::vector<int>>(layers.size())};
    Numbering known;
    std::vector<int> sets(layers.size());
    for (std::size_t n = 0; n < nodes; ++n) {
        for (std::size_t layer = 0; layer < layers.size(); ++layer)
            sets[layer] = layers[layer].of_node[n];
        const std::size_t number = known.number(sets);
        if (number == classes.nodes.size()) {
            classes.nodes.emplace_back();
            for (std::size_t layer = 0; layer < layers.size(); ++layer)
                classes.set[layer].push_back(sets[layer]);
        }
        classes.nodes[number].push_back(static_cast<int>(n));
    }
    return classes;
}

// [h][w]: experts of the set `wants[w]` that are not in `has[h]`.
std::vector<std::vector<int>> missing_experts(const ExpertSets& has, const ExpertSets& wants) {
    int experts = 0;
    for (const ExpertSets* side : {&has, &wants}) {
        for (const auto& set : side->sets)
            experts = std::max(experts, set.empty() ? 0 : set.back() + 1);
    }
    std::vector<std::vector<int>> missing;
    std::vector<int> lacks(static_cast<std::size_t>(experts), 1);
    for (const std::vector<int>& held : has.sets) {
        for (int e : held) lacks[static_cast<std::size_t>(e)] = 0;
        std::vector<int>& row = missing.emplace_back();
        for (const std::vector<int>& wanted : wants.sets) {
            int count = 0;
            for (int e : wanted) count += lacks[static_cast<std::size_t>(e)];
            row.push_back(count);
        }
        for (int e : held) lacks[static_cast<std::size_t>(e)] = 1;
    }
    return missing;
}

// [p · classes of plan nodes + q]: cost of a pair of classes, summed over the layers.
std::vector<int> pair_costs(const std::vector<ExpertSets>& has,
                            const std::vector<ExpertSets>& wants, const NodeClasses& physical,
                            const NodeClasses& planned) {
    const std::size_t width = planned.nodes.size();
    std::vector<int> costs(physical.nodes.size() * width, 0);
    for (std::size_t layer = 0; layer < has.size(); ++layer) {
        const auto missing = missing_experts(has[layer], wants[layer]);
        for (std::size_t p = 0; p < physical.nodes.size(); ++p) {
            const int* of = missing[static_cast<std::size_t>(physical.set[layer][p])].data();
            const int* set = planned.set[layer].data();
            int* row = costs.data() + p * width;
            for (std::size_t q = 0; q < width; ++q) row[q] += of[set[q]];
        }
    }
    return costs;
}

// Repeatedly the cheapest pair, ties by physical, then plan node. A class's cheapest pair only ever
// gets dearer, as plan nodes are taken: so what was last found is a lower bound, and the least of
// these bounds that still holds is the cheapest pair of all.
NodeMapping greedy(const NodeClasses& physical, const NodeClasses& planned,
                   std::span<const int> costs, std::size_t nodes) {
    struct Offer {  // the plan nodes of a class that are left
        std::size_t planned;
        std::span<const int> nodes;
    };
    struct Ask {
        int cost;    // of its cheapest pair, at least
        int lowest;  // the first of its nodes that are left
        std::size_t physical, next;
        bool operator>(const Ask& other) const {
            return std::pair(cost, lowest) > std::pair(other.cost, other.lowest);
        }
    };
    std::vector<Offer> offers;
    for (std::size_t q = 0; q < planned.nodes.size(); ++q) offers.push_back({q, planned.nodes[q]});
    std::priority_queue<Ask, std::vector<Ask>, std::greater<>> asks;
    for (std::size_t p = 0; p < physical.nodes.size(); ++p)
        asks.push({0, physical.nodes[p].front(), p, 0});

    NodeMapping mapping(nodes, -1);
    while (!asks.empty()) {
        Ask ask = asks.top();
        asks.pop();
        const int* row = costs.data() + ask.physical * planned.nodes.size();
        std::int64_t best = std::numeric_limits<std::int64_t>::max();  // cost, then plan node
        std::size_t at = 0;
        for (std::size_t i = 0; i < offers.size(); ++i) {
            const std::int64_t pair =
                (std::int64_t{row[offers[i].planned]} << 32) + offers[i].nodes.front();
            if (pair < best) {
                best = pair;
                at = i;
            }
        }
        const int cost = static_cast<int>(best >> 32);
        if (cost == ask.cost) {
            mapping[static_cast<std::size_t>(ask.lowest)] = offers[at].nodes.front();
            offers[at].nodes = offers[at].nodes.subspan(1);
            if (offers[at].nodes.empty()) {
                offers[at] = offers.back();
                offers.pop_back();
            }
            if (++ask.next == physical.nodes[ask.physical].size()) continue;
            ask.lowest = physical.nodes[ask.physical][ask.next];
        }
        ask.cost = cost;
        asks.push(ask);
    }
    return mapping;
}

NodeMapping map_layers_alike(std::span<const Placement> held, std::span<const Placement> plan) {
    const std::size_t nodes = held.front().size();
    std::vector<ExpertSets> has, wants;
    for (std::size_t layer = 0; layer < held.size(); ++layer) {
        if (held[layer].size() != plan[layer].size()) {
            throw UserError(fmt::format("mapping {} physical nodes to {} plan nodes",
                                        held[layer].size(), plan[layer].size()));
        }
        if (held[layer].size() != nodes) {
            throw UserError(fmt::format("mapping: layer {} has {} nodes, layer 0 has {}", layer,
                                        held[layer].size(), nodes));
        }
        has.push_back(expert_sets(held[layer]));
        wants.push_back(expert_sets(plan[layer]));
    }
    const NodeClasses physical = classes_of(has, nodes), planned = classes_of(wants, nodes);
    return greedy(physical, planned, pair_costs(has, wants, physical, planned), nodes);
}

}  // namespace

NodeMapping map_nodes(const Placement& held, const Placement& plan) {
    return map_layers_alike({&held, 1}, {&plan, 1});
}

NodeMapping map_nodes_jointly(const ModelPlacement& held, const ModelPlacement& plan) {
    if (held.size() != plan.size() || held.empty()) {
        throw UserError(fmt::format("mapping {} layers to a plan of {}", held.size(), plan.size()));
    }
    return map_layers_alike(held, plan);
}

Placement apply_mapping(Placement plan, const NodeMapping& mapping) {
    Placement result;
    result.reserve(mapping.size());
    for (int q : mapping) result.push_back(std::move(plan.at(static_cast<std::size_t>(q))));
    return result;
}

ModelPlacement map_layers(const ModelPlacement& held, ModelPlacement plan) {
    if (held.size() != plan.size()) {
        throw UserError(fmt::format("mapping {} layers to a plan of {}", held.size(), plan.size()));
    }
    for (std::size_t layer = 0; layer < plan.size(); ++layer) {
        const NodeMapping mapping = map_nodes(held[layer], plan[layer]);
        plan[layer] = apply_mapping(std::move(plan[layer]), mapping);
    }
    return plan;
}

ModelPlacement map_layers_jointly(const ModelPlacement& held, ModelPlacement plan) {
    const NodeMapping mapping = map_nodes_jointly(held, plan);
    for (Placement& layer : plan) layer = apply_mapping(std::move(layer), mapping);
    return plan;
}

}  // namespace assay::lazarus
