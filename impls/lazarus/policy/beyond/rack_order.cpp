#include "impls/lazarus/policy/beyond/rack_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "impls/lazarus/policy/plan/holder_sets.hpp"
#include "impls/lazarus/policy/plan/mro.hpp"
#include "impls/lazarus/policy/plan/recovery_probability.hpp"
#include "suite/base/error.hpp"

namespace assay::lazarus {
namespace {

// [rack]: its nodes, ascending.
std::vector<std::vector<int>> nodes_by_rack(const RackOf& rack_of) {
    std::vector<std::vector<int>> racks;
    for (std::size_t n = 0; n < rack_of.size(); ++n) {
        if (rack_of[n] < 0) throw UserError(fmt::format("node {} is in rack {}", n, rack_of[n]));
        const auto rack = static_cast<std::size_t>(rack_of[n]);
        if (rack >= racks.size()) racks.resize(rack + 1);
        racks[rack].push_back(static_cast<int>(n));
    }
    return racks;
}

// Plan nodes to racks in turn, racks that are full left out.
NodeMapping deal(const std::vector<std::vector<int>>& racks, std::size_t nodes) {
    NodeMapping mapping(nodes, -1);
    int next = 0;
    for (std::size_t round = 0; next < static_cast<int>(nodes); ++round) {
        for (const auto& rack : racks) {
            if (round < rack.size()) mapping[static_cast<std::size_t>(rack[round])] = next++;
        }
    }
    return mapping;
}

// Sets of plan nodes that share none, smallest first, and the other nodes.
struct Groups {
    std::vector<std::vector<int>> sets;
    std::vector<int> rest;
};

Groups disjoint_groups(const std::vector<NodeSet>& minimal, int nodes) {
    Groups groups;
    std::vector<bool> taken(static_cast<std::size_t>(nodes), false);
    const auto is_taken = [&](int n) { return taken[static_cast<std::size_t>(n)]; };
    for (const NodeSet& set : minimal) {
        std::vector<int> members = set.members();
        if (members.empty() || std::any_of(members.begin(), members.end(), is_taken)) continue;
        for (int n : members) taken[static_cast<std::size_t>(n)] = true;
        groups.sets.push_back(std::move(members));
    }
    for (int n = 0; n < nodes; ++n) {
        if (!is_taken(n)) groups.rest.push_back(n);
    }
    return groups;
}

// Groups are to racks what experts are to nodes: place_blocks() one level up.
NodeMapping overlap(const Groups& groups, const std::vector<std::vector<int>>& racks, int block) {
    std::vector<std::vector<int>> left = groups.sets;  // plan nodes to be taken, by group
    if (!groups.rest.empty()) left.push_back(groups.rest);
    Replicas sizes;
    for (const auto& group : left) sizes.push_back(static_cast<int>(group.size()));
    const int slots = static_cast<int>(racks.front().size());
    const Blocks blocks{.block = block, .fillers = groups.rest.empty() ? 0 : 1};
    const Placement on_racks = place_blocks(sizes, static_cast<int>(racks.size()), slots, blocks);
    NodeMapping mapping(racks.size() * racks.front().size(), -1);
    for (std::size_t rack = 0; rack < racks.size(); ++rack) {
        for (std::size_t i = 0; i < racks[rack].size(); ++i) {
            auto& group = left[static_cast<std::size_t>(on_racks[rack][i])];
            mapping[static_cast<std::size_t>(racks[rack][i])] = group.back();
            group.pop_back();
        }
    }
    return mapping;
}

// Better first: fewer fatal racks, then the curve from two racks on, lexicographically.
struct Standing {
    int fatal;
    std::vector<double> lost;  // 1 - recovery probability
    bool operator<(const Standing& other) const {
        return std::pair(fatal, lost) < std::pair(other.fatal, other.lost);
    }
};

Standing standing_of(const ModelPlacement& plan, const NodeMapping& mapping, int experts,
                     const RackOf& rack_of) {
    ModelPlacement placed;
    for (const Placement& layer : plan) placed.push_back(apply_mapping(layer, mapping));
    Standing standing{fatal_racks(placed, experts, rack_of), {}};
    const RecoveryOptions quick{.samples = 2000, .sweep_work = 1e7};
    for (double p : recovery_probability(by_rack(placed, rack_of), experts, quick).probability)
        standing.lost.push_back(1 - p);
    return standing;
}

}  // namespace

ModelPlacement by_rack(const ModelPlacement& placement, const RackOf& rack_of) {
    const std::size_t racks = nodes_by_rack(rack_of).size();
    ModelPlacement result;
    for (const Placement& layer : placement) {
        if (layer.size() != rack_of.size()) {
            throw UserError(fmt::format("{} nodes in racks, but a layer is placed on {}",
                                        rack_of.size(), layer.size()));
        }
        Placement& by = result.emplace_back(racks);
        for (std::size_t n = 0; n < layer.size(); ++n) {
            auto& rack = by[static_cast<std::size_t>(rack_of[n])];
            rack.insert(rack.end(), layer[n].begin(), layer[n].end());
        }
        for (auto& rack : by) {
            std::sort(rack.begin(), rack.end());
            rack.erase(std::unique(rack.begin(), rack.end()), rack.end());
        }
    }
    return result;
}

int fatal_racks(const ModelPlacement& placement, int experts, const RackOf& rack_of) {
    const ModelPlacement racks = by_rack(placement, rack_of);
    std::vector<bool> fatal(racks.empty() ? 0 : racks[0].size(), false);
    for (const Placement& layer : racks) {
        std::vector<int> holders(static_cast<std::size_t>(experts), 0);
        for (const auto& rack : layer) {
            for (int e : rack) ++holders.at(static_cast<std::size_t>(e));
        }
        for (std::size_t rack = 0; rack < layer.size(); ++rack) {
            const bool last = std::any_of(layer[rack].begin(), layer[rack].end(), [&](int e) {
                return holders[static_cast<std::size_t>(e)] == 1;
            });
            if (last) fatal[rack] = true;
        }
    }
    return static_cast<int>(std::count(fatal.begin(), fatal.end(), true));
}

NodeMapping rack_aware_order(const ModelPlacement& plan, int experts, const RackOf& rack_of) {
    const std::vector<NodeSet> minimal = minimal_holder_sets(plan, experts);
    const auto racks = nodes_by_rack(rack_of);
    NodeMapping best(rack_of.size());
    std::iota(best.begin(), best.end(), 0);
    if (racks.empty()) return best;
    Standing standing = standing_of(plan, best, experts, rack_of);
    const auto enter = [&](NodeMapping mapping) {
        Standing found = standing_of(plan, mapping, experts, rack_of);
        if (!(found < standing)) return;
        standing = std::move(found);
        best = std::move(mapping);
    };
    enter(deal(racks, rack_of.size()));
    const bool alike = std::all_of(racks.begin(), racks.end(), [&](const auto& rack) {
        return rack.size() == racks.front().size();
    });
    if (!alike) return best;
    const Groups groups = disjoint_groups(minimal, static_cast<int>(rack_of.size()));
    if (groups.sets.empty()) return best;
    // Blocks as large as a rack are overlap; smaller ones mend it where racks run out.
    for (int block = static_cast<int>(racks.front().size()); block >= 1; block /= 2)
        enter(overlap(groups, racks, block));
    return best;
}

}  // namespace assay::lazarus
