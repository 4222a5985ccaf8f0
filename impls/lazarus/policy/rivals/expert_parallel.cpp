#include "impls/lazarus/policy/rivals/expert_parallel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "impls/lazarus/policy/dispatch/dispatcher.hpp"
#include "impls/lazarus/policy/plan/node_mapping.hpp"
#include "suite/base/error.hpp"

namespace assay::lazarus {
namespace {

/// The experts of every share, in order: one group's placement of one layer.
Placement shares_of(int experts, int group) {
    Placement shares(static_cast<std::size_t>(group),
                     std::vector<int>(static_cast<std::size_t>(experts / group)));
    int expert = 0;
    for (std::vector<int>& share : shares) {
        for (int& one : share) one = expert++;
    }
    return shares;
}

}  // namespace

int nodes_in_whole_groups(int nodes, int group) { return nodes - nodes % group; }

ModelPlacement place_in_groups(const ModelPlacement& held, int experts, int group) {
    const std::size_t nodes = held.empty() ? 0 : held[0].size();
    if (group < 1 || experts % group != 0 || nodes % static_cast<std::size_t>(group) != 0) {
        throw std::invalid_argument(fmt::format(
            "{} nodes and {} experts do not make whole groups of {}", nodes, experts, group));
    }
    const ModelPlacement shares(held.size(), shares_of(experts, group));
    ModelPlacement holders(held.size());
    for (std::size_t first = 0; first < nodes; first += static_cast<std::size_t>(group)) {
        ModelPlacement held_here;
        for (const Placement& layer : held) {
            const auto begin = layer.begin() + static_cast<std::ptrdiff_t>(first);
            held_here.emplace_back(begin, begin + group);
        }
        // One mapping for all layers: a node's share is the same in each of them.
        const ModelPlacement here = map_layers_jointly(held_here, shares);
        for (std::size_t layer = 0; layer < here.size(); ++layer)
            holders[layer].insert(holders[layer].end(), here[layer].begin(), here[layer].end());
    }
    return holders;
}

std::vector<int> surplus_nodes(const ModelPlacement& held, int keep) {
    const std::size_t nodes = held.empty() ? 0 : held[0].size();
    std::vector<int> idle;                          // hold nothing, ascending
    std::map<Placement, std::vector<int>> holders;  // what is held → by whom, ascending
    for (std::size_t node = 0; node < nodes; ++node) {
        Placement mine;
        for (const Placement& layer : held) mine.push_back(layer[node]);
        const bool nothing = std::all_of(mine.begin(), mine.end(),
                                         [](const auto& experts) { return experts.empty(); });
        (nothing ? idle : holders[mine]).push_back(static_cast<int>(node));
    }
    const auto less_needed = [](const auto& a, const auto& b) {
        if (a.second.size() != b.second.size()) return a.second.size() < b.second.size();
        return !a.second.empty() && a.second.back() < b.second.back();
    };
    std::vector<int> surplus;
    for (int left = static_cast<int>(nodes); left > std::max(keep, 0); --left) {
        std::vector<int>& from =
            idle.empty() ? std::max_element(holders.begin(), holders.end(), less_needed)->second
                         : idle;
        surplus.push_back(from.back());
        from.pop_back();
    }
    std::sort(surplus.begin(), surplus.end());
    return surplus;
}

std::vector<int> groups_of(const Placement& holders, int ep) {
    std::map<std::vector<int>, int> holders_of_share;
    std::vector<int> group;
    for (auto share : holders) {
        std::sort(share.begin(), share.end());
        group.push_back(holders_of_share[share]++);
    }
    if (ep < 1 || static_cast<int>(holders_of_share.size()) != ep) {
        throw UserError(fmt::format(
            "groups of {} ranks need {} different shares of the experts, not the {} of this plan",
            ep, ep, holders_of_share.size()));
    }
    const int groups = holders_of_share.begin()->second;
    for (const auto& [share, count] : holders_of_share) {
        if (count != groups) {
            throw UserError(fmt::format(
                "the share of expert {} has {} holders, another one {}: {} ranks do not form "
                "groups of {}",
                share.empty() ? -1 : share.front(), count, groups, holders.size(), ep));
        }
    }
    return group;
}

ExpertGroups::ExpertGroups(const Placement& holders, int experts, int ep)
    : experts_(experts), group_(groups_of(holders, ep)) {
    const auto replicas = replica_counts(holders, experts);
    const auto ranks = holders.size(), groups = ranks / static_cast<std::size_t>(ep);
    members_.resize(groups);
    for (std::size_t rank = 0; rank < ranks; ++rank)
        members_[nth(group_[rank])].push_back(static_cast<int>(rank));
    holder_.assign(groups * static_cast<std::size_t>(experts), -1);
    std::vector<int> copies(holder_.size(), 0);
    for (std::size_t e = 0; e < static_cast<std::size_t>(experts); ++e) {
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            if (replicas[e * ranks + rank] == 0) continue;
            const auto slot =
                static_cast<std::size_t>(group_[rank]) * static_cast<std::size_t>(experts) + e;
            holder_[slot] = static_cast<int>(rank);
            copies[slot] += replicas[e * ranks + rank];
        }
    }
    for (std::size_t slot = 0; slot < copies.size(); ++slot) {
        if (copies[slot] != 1) {
            throw UserError(fmt::format("group {} holds expert {} {} times, not once",
                                        slot / static_cast<std::size_t>(experts),
                                        slot % static_cast<std::size_t>(experts), copies[slot]));
        }
    }
}

std::vector<Tokens> slice_rooms(std::span<const Tokens> tokens, const ExpertGroups& groups) {
    check_tokens(tokens, groups.experts(), groups.ranks());
    const auto ranks = static_cast<std::size_t>(groups.ranks());
    std::vector<Tokens> rooms(groups.members().size(), 0);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const auto group = static_cast<std::size_t>(groups.group(static_cast<int>(i % ranks)));
        rooms[group] = std::max(rooms[group], tokens[i]);
    }
    return rooms;
}

void plan_padded_dispatch(std::span<const Tokens> tokens, const ExpertGroups& groups,
                          DispatchPlan& plan) {
    const auto experts = static_cast<std::size_t>(groups.experts());
    const auto ranks = static_cast<std::size_t>(groups.ranks());
    const std::vector<Tokens> rooms = slice_rooms(tokens, groups);
    plan.experts = groups.experts();
    plan.ranks = groups.ranks();
    plan.counts.assign(experts * ranks * ranks, 0);
    plan.padded.assign(experts * ranks * ranks, 0);
    for (int e = 0; e < plan.experts; ++e) {
        for (int source = 0; source < plan.ranks; ++source) {
            const int group = groups.group(source);
            const auto entry = plan.index(e, source, groups.holder(group, e));
            plan.counts[entry] =
                tokens[static_cast<std::size_t>(e) * ranks + static_cast<std::size_t>(source)];
            plan.padded[entry] = rooms[static_cast<std::size_t>(group)];
        }
    }
}

}  // namespace assay::lazarus
