#include "impls/lazarus/policy/rivals/padded_dispatcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "suite/base/error.hpp"

namespace assay::lazarus {
namespace {

/// Ranks of a group and experts that they hold.
struct Share {
    double ranks = 0, experts = 0;
};

}  // namespace

PaddedDispatcher::PaddedDispatcher(ExpertGroups of)
    : groups_(std::move(of)), held_(nth(groups_.ranks()), 0) {
    const int groups = static_cast<int>(groups_.members().size());
    for (int group = 0; group < groups; ++group)
        for (int e = 0; e < experts(); ++e) ++held_[nth(groups_.holder(group, e))];
}

ExchangeTotals PaddedDispatcher::totals(std::span<const Tokens> tokens,
                                        const RankSites& sites) const {
    ExchangeTotals all{std::vector<double>(nth(ranks())), std::vector<RankTraffic>(nth(ranks()))};
    const std::vector<Tokens> rooms = slice_rooms(tokens, groups_);
    for (std::size_t group = 0; group < groups_.members().size(); ++group) {
        const auto room = static_cast<double>(rooms[group]);
        const Share whole{double(groups_.members()[group].size()), double(experts())};
        std::map<int, Share> of_node, of_rack;
        for (const int rank : groups_.members()[group]) {
            for (Share* share :
                 {&of_node[sites.node[nth(rank)]], &of_rack[sites.rack[nth(rank)]]}) {
                ++share->ranks;
                share->experts += held_[nth(rank)];
            }
        }
        for (const int rank : groups_.members()[group]) {
            const Share &node = of_node[sites.node[nth(rank)]],
                        &rack = of_rack[sites.rack[nth(rank)]];
            const double held = held_[nth(rank)];
            all.computed[nth(rank)] = room * held * whole.ranks;
            // A slice for each expert of others, and a slice from each other for one's own.
            all.traffic[nth(rank)] = {
                .sent = {.inside_node = room * (node.experts - held),
                         .inside_rack = room * (rack.experts - node.experts),
                         .between_racks = room * (whole.experts - rack.experts)},
                .received = {.inside_node = room * held * (node.ranks - 1),
                             .inside_rack = room * held * (rack.ranks - node.ranks),
                             .between_racks = room * held * (whole.ranks - rack.ranks)}};
        }
    }
    return all;
}

void PaddedDispatcher::layout(std::span<const Tokens> tokens, int rank, RankLayout& layout) const {
    if (rank < 0 || rank >= ranks()) throw UserError(fmt::format("rank {} of {}", rank, ranks()));
    const std::vector<Tokens> rooms = slice_rooms(tokens, groups_);
    const int group = groups_.group(rank);
    const Tokens room = rooms[nth(group)];
    clear(layout, experts(), ranks());
    for (int e = 0; e < experts(); ++e) {
        const auto row = tokens.subspan(nth(e) * nth(ranks()), nth(ranks()));
        const int holder = groups_.holder(group, e);
        layout.to(holder, e).rows = row[nth(rank)];
        layout.to(holder, e).room = room;
        if (holder != rank) continue;
        for (const int source : groups_.members()[nth(group)]) {
            layout.from(source, e).rows = row[nth(source)];
            layout.from(source, e).room = room;
        }
    }
    lay_out(layout);
}

}  // namespace assay::lazarus
