#include "impls/lazarus/policy/plan/holder_sets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

#include "suite/base/error.hpp"

namespace assay::lazarus {

int NodeSet::size() const {
    int count = 0;
    for (std::uint64_t w : words_) count += std::popcount(w);
    return count;
}

bool NodeSet::subset_of(const NodeSet& other) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
        if ((words_[i] & ~other.words_[i]) != 0) return false;
    }
    return true;
}

void NodeSet::unite(const NodeSet& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
}

std::vector<int> NodeSet::members() const {
    std::vector<int> nodes;
    for (std::size_t i = 0; i < words_.size(); ++i) {
        for (std::uint64_t w = words_[i]; w != 0; w &= w - 1) {
            nodes.push_back(static_cast<int>(i * 64) + std::countr_zero(w));
        }
    }
    return nodes;
}

namespace {

// Smallest first; of sets one of which contains the other, the smaller.
template <class Set>
std::vector<Set> minimal_of(std::vector<Set> sets) {
    std::sort(sets.begin(), sets.end(), [](const Set& a, const Set& b) {
        const int size_a = size_of(a), size_b = size_of(b);
        return size_a != size_b ? size_a < size_b : a < b;
    });
    sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
    std::vector<Set> minimal;
    for (Set& set : sets) {
        const bool implied = std::any_of(minimal.begin(), minimal.end(),
                                         [&](const Set& m) { return is_subset(m, set); });
        if (!implied) minimal.push_back(std::move(set));
    }
    return minimal;
}

}  // namespace

std::vector<NodeMask> holder_masks(const Placement& placement, int experts) {
    std::vector<NodeMask> masks(static_cast<std::size_t>(experts), 0);
    for (std::size_t node = 0; node < placement.size(); ++node) {
        for (int e : placement[node]) masks[static_cast<std::size_t>(e)] |= NodeMask{1} << node;
    }
    return masks;
}

std::vector<NodeMask> minimal_masks(std::vector<NodeMask> masks) {
    return minimal_of(std::move(masks));
}

std::vector<NodeSet> minimal_holder_sets(const ModelPlacement& placement, int experts) {
    const int nodes = placement.empty() ? 0 : static_cast<int>(placement[0].size());
    std::vector<NodeSet> all;
    for (std::size_t layer = 0; layer < placement.size(); ++layer) {
        if (static_cast<int>(placement[layer].size()) != nodes) {
            throw UserError(fmt::format("layer {} is placed on {} nodes, layer 0 on {}", layer,
                                        placement[layer].size(), nodes));
        }
        std::vector<NodeSet> holders(static_cast<std::size_t>(std::max(experts, 0)),
                                     NodeSet(nodes));
        for (int node = 0; node < nodes; ++node) {
            for (int e : placement[layer][static_cast<std::size_t>(node)]) {
                if (e < 0 || e >= experts) {
                    throw UserError(
                        fmt::format("node {} of layer {} holds expert {}, but there are {}", node,
                                    layer, e, experts));
                }
                holders[static_cast<std::size_t>(e)].insert(node);
            }
        }
        std::move(holders.begin(), holders.end(), std::back_inserter(all));
    }
    return minimal_of(std::move(all));
}

std::vector<FailureComponent> split_components(const std::vector<NodeSet>& sets, int nodes) {
    std::vector<int> parent(static_cast<std::size_t>(nodes));
    std::iota(parent.begin(), parent.end(), 0);
    auto root = [&](int n) {
        while (parent[static_cast<std::size_t>(n)] != n) {
            int& up = parent[static_cast<std::size_t>(n)];
            up = parent[static_cast<std::size_t>(up)];
            n = up;
        }
        return n;
    };
    std::vector<std::vector<int>> members;
    for (const NodeSet& set : sets) {
        members.push_back(set.members());
        for (int n : members.back()) {
            parent[static_cast<std::size_t>(root(n))] = root(members.back().front());
        }
    }

    std::map<int, std::vector<std::size_t>> sets_of;  // by root
    for (std::size_t s = 0; s < sets.size(); ++s) sets_of[root(members[s].front())].push_back(s);

    std::vector<FailureComponent> components;
    for (const auto& [unused, own] : sets_of) {
        std::map<int, int> renumbered;
        for (std::size_t s : own) {
            for (int n : members[s]) renumbered.emplace(n, 0);
        }
        int next = 0;
        for (auto& [node, number] : renumbered) number = next++;
        FailureComponent component{next, {}};
        for (std::size_t s : own) {
            NodeSet set(next);
            for (int n : members[s]) set.insert(renumbered.at(n));
            component.sets.push_back(std::move(set));
        }
        components.push_back(std::move(component));
    }
    return components;
}

}  // namespace assay::lazarus
