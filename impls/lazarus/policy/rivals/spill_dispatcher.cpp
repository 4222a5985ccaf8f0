#include "impls/lazarus/policy/rivals/spill_dispatcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "suite/base/error.hpp"

namespace assay::lazarus {

SpillDispatcher::SpillDispatcher(ExpertGroups groups, const SpillLimits& limits)
    : groups_(std::move(groups)), limits_(limits) {}

template <class Visit, class Moves>
void SpillDispatcher::for_each(std::span<const Tokens> tokens, Visit visit, Moves moves) const {
    check_tokens(tokens, experts(), ranks());
    const auto sent = [&](int expert, int rank) {
        return tokens[nth(expert) * nth(ranks()) + nth(rank)];
    };
    std::vector<int> place(nth(ranks()));  // of a rank in its group
    for (std::size_t group = 0; group < groups_.members().size(); ++group) {
        const std::vector<int>& members = groups_.members()[group];
        for (std::size_t i = 0; i < members.size(); ++i)
            place[nth(members[i])] = static_cast<int>(i);
        std::vector<Tokens> rows(nth(experts()), 0);
        std::vector<int> holder;
        for (int e = 0; e < experts(); ++e) {
            for (int rank : members) rows[nth(e)] += sent(e, rank);
            holder.push_back(place[nth(groups_.holder(static_cast<int>(group), e))]);
        }
        const auto parts = spill_rows(rows, holder, static_cast<int>(members.size()), limits_);
        for (int e = 0; e < experts(); ++e) {
            std::size_t part = 0;
            Tokens open = parts[nth(e)].empty() ? 0 : parts[nth(e)].front().rows;
            for (int from : members) {
                for (Tokens left = sent(e, from); left > 0;) {
                    while (open == 0) open = parts[nth(e)][++part].rows;
                    const Tokens now = std::min(left, open);
                    visit(e, from, members[nth(parts[nth(e)][part].rank)], now);
                    left -= now;
                    open -= now;
                }
            }
            for (const SpillPart& one : parts[nth(e)])
                if (one.rank != holder[nth(e)])
                    moves(e, members[nth(holder[nth(e)])], members[nth(one.rank)]);
        }
    }
}

ExchangeTotals SpillDispatcher::totals(std::span<const Tokens> tokens,
                                       const RankSites& sites) const {
    ExchangeTotals all{std::vector<double>(nth(ranks())), std::vector<RankTraffic>(nth(ranks()))};
    for_each(
        tokens,
        [&](int, int from, int to, Tokens rows) {
            all.computed[nth(to)] += static_cast<double>(rows);
            add_message(all.traffic, sites, from, to, static_cast<double>(rows));
        },
        [&](int, int holder, int helper) {
            all.weights.push_back({holder, helper});
        });
    return all;
}

void SpillDispatcher::layout(std::span<const Tokens> tokens, int rank, RankLayout& layout) const {
    if (rank < 0 || rank >= ranks()) throw UserError(fmt::format("rank {} of {}", rank, ranks()));
    clear(layout, experts(), ranks());
    for_each(
        tokens,
        [&](int expert, int from, int to, Tokens rows) {
            if (from == rank) layout.to(to, expert).rows = layout.to(to, expert).room = rows;
            if (to == rank) layout.from(from, expert).rows = layout.from(from, expert).room = rows;
        },
        [](int, int, int) {});
    lay_out(layout);
}

void SpillDispatcher::table(std::span<const Tokens> tokens, DispatchPlan& plan) const {
    plan.experts = experts();
    plan.ranks = ranks();
    plan.counts.assign(nth(experts()) * nth(ranks()) * nth(ranks()), 0);
    plan.padded.clear();
    for_each(
        tokens,
        [&](int expert, int from, int to, Tokens rows) {
            plan.counts[plan.index(expert, from, to)] = rows;
        },
        [](int, int, int) {});
}

}  // namespace assay::lazarus
