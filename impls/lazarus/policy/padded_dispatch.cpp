#include "impls/lazarus/policy/padded_dispatch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "suite/experiment/error.hpp"

namespace assay::lazarus {

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

void plan_padded_dispatch(std::span<const Tokens> tokens, const ExpertGroups& groups,
                          DispatchPlan& plan) {
    const auto experts = static_cast<std::size_t>(groups.experts());
    const auto ranks = static_cast<std::size_t>(groups.ranks());
    if (tokens.size() != experts * ranks) {
        throw UserError(fmt::format("dispatch of {} experts over {} ranks wants {} counts, not {}",
                                    experts, ranks, experts * ranks, tokens.size()));
    }
    std::vector<Tokens> capacity(ranks, 0);  // by group; there are no more than ranks
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const auto rank = static_cast<int>(i % ranks);
        if (tokens[i] < 0) {
            throw UserError(fmt::format("dispatch: {} tokens of expert {} on rank {}", tokens[i],
                                        i / ranks, rank));
        }
        auto& largest = capacity[static_cast<std::size_t>(groups.group(rank))];
        largest = std::max(largest, tokens[i]);
    }
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
            plan.padded[entry] = capacity[static_cast<std::size_t>(group)];
        }
    }
}

}  // namespace assay::lazarus
