#include "impls/lazarus/policy/plan/node_mapping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include "suite/base/error.hpp"

namespace assay::lazarus {
namespace {

void check_shapes(const Placement& held, const Placement& plan) {
    if (held.size() != plan.size()) {
        throw UserError(
            fmt::format("mapping {} physical nodes to {} plan nodes", held.size(), plan.size()));
    }
    for (const Placement* side : {&held, &plan}) {
        for (const auto& node : *side) {
            for (int e : node) {
                if (e < 0) throw UserError(fmt::format("mapping: expert id {}", e));
            }
        }
    }
}

// Nodes of one side grouped by the set of experts they hold or want; overlap makes for few sets.
struct ExpertSets {
    std::vector<std::vector<int>> sets;  // each ascending, distinct
    std::vector<std::size_t> of_node;
};

ExpertSets expert_sets(const Placement& nodes) {
    ExpertSets result;
    std::map<std::vector<int>, std::size_t> known;
    for (std::vector<int> set : nodes) {
        std::sort(set.begin(), set.end());
        set.erase(std::unique(set.begin(), set.end()), set.end());
        const auto [found, is_new] = known.emplace(set, result.sets.size());
        if (is_new) result.sets.push_back(std::move(set));
        result.of_node.push_back(found->second);
    }
    return result;
}

int count_missing(const std::vector<int>& has, const std::vector<int>& wants) {
    int missing = 0;
    auto at = has.begin();
    for (int e : wants) {
        at = std::lower_bound(at, has.end(), e);
        missing += at == has.end() || *at != e ? 1 : 0;
    }
    return missing;
}

// Adds |plan[q] \ held[p]| to costs[p][q].
void add_costs(const Placement& held, const Placement& plan, std::vector<int>& costs) {
    check_shapes(held, plan);
    const ExpertSets has = expert_sets(held), wants = expert_sets(plan);
    std::vector<int> missing(wants.sets.size());
    std::vector<std::vector<std::size_t>> nodes_with(has.sets.size());
    for (std::size_t p = 0; p < held.size(); ++p) nodes_with[has.of_node[p]].push_back(p);
    for (std::size_t h = 0; h < has.sets.size(); ++h) {
        for (std::size_t w = 0; w < wants.sets.size(); ++w) {
            missing[w] = count_missing(has.sets[h], wants.sets[w]);
        }
        for (std::size_t p : nodes_with[h]) {
            int* row = costs.data() + p * plan.size();
            for (std::size_t q = 0; q < plan.size(); ++q) row[q] += missing[wants.of_node[q]];
        }
    }
}

// Repeatedly the cheapest pair, ties by physical, then plan node. One pass per distinct cost, in
// ascending order, visits the pairs in exactly that order.
NodeMapping greedy(std::span<const int> costs, std::size_t nodes) {
    constexpr int none = std::numeric_limits<int>::max();
    NodeMapping mapping(nodes, -1);
    std::vector<bool> taken(nodes, false);
    int level = costs.empty() ? none : *std::min_element(costs.begin(), costs.end());
    while (level != none) {
        int next = none;
        for (std::size_t p = 0; p < nodes; ++p) {
            if (mapping[p] >= 0) continue;
            const int* row = costs.data() + p * nodes;
            for (std::size_t q = 0; q < nodes; ++q) {
                if (taken[q] || row[q] < level) continue;
                if (row[q] == level) {
                    mapping[p] = static_cast<int>(q);
                    taken[q] = true;
                    break;
                }
                next = std::min(next, row[q]);
            }
        }
        level = next;
    }
    return mapping;
}

}  // namespace

NodeMapping map_nodes(const Placement& held, const Placement& plan) {
    std::vector<int> costs(held.size() * plan.size(), 0);
    add_costs(held, plan, costs);
    return greedy(costs, held.size());
}

NodeMapping map_nodes_jointly(const ModelPlacement& held, const ModelPlacement& plan) {
    if (held.size() != plan.size() || held.empty()) {
        throw UserError(fmt::format("mapping {} layers to a plan of {}", held.size(), plan.size()));
    }
    const std::size_t nodes = held[0].size();
    std::vector<int> costs(nodes * nodes, 0);
    for (std::size_t layer = 0; layer < held.size(); ++layer) {
        if (held[layer].size() != nodes) {
            throw UserError(fmt::format("mapping: layer {} has {} nodes, layer 0 has {}", layer,
                                        held[layer].size(), nodes));
        }
        add_costs(held[layer], plan[layer], costs);
    }
    return greedy(costs, nodes);
}

Placement apply_mapping(const Placement& plan, const NodeMapping& mapping) {
    Placement result;
    result.reserve(mapping.size());
    for (int q : mapping) result.push_back(plan.at(static_cast<std::size_t>(q)));
    return result;
}

ModelPlacement map_layers(const ModelPlacement& held, const ModelPlacement& plan) {
    if (held.size() != plan.size()) {
        throw UserError(fmt::format("mapping {} layers to a plan of {}", held.size(), plan.size()));
    }
    ModelPlacement result;
    for (std::size_t layer = 0; layer < plan.size(); ++layer) {
        result.push_back(apply_mapping(plan[layer], map_nodes(held[layer], plan[layer])));
    }
    return result;
}

ModelPlacement map_layers_jointly(const ModelPlacement& held, const ModelPlacement& plan) {
    const NodeMapping mapping = map_nodes_jointly(held, plan);
    ModelPlacement result;
    for (const Placement& layer : plan) result.push_back(apply_mapping(layer, mapping));
    return result;
}

}  // namespace assay::lazarus
