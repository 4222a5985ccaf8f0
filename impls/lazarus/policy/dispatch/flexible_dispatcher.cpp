#include "impls/lazarus/policy/dispatch/flexible_dispatcher.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "impls/lazarus/policy/dispatch/apportionment.hpp"
#include "suite/base/error.hpp"

namespace assay::lazarus {
namespace {

/// Sums over the ranks of each node, and of each rack.
struct BySite {
    explicit BySite(const RankSites& sites)
        : sites_(sites), node(nth(sites.nodes)), rack(nth(sites.racks)) {}
    void add(int rank, double volume) {
        node[nth(sites_.node[nth(rank)])] += volume;
        rack[nth(sites_.rack[nth(rank)])] += volume;
    }
    void clear() {
        std::fill(node.begin(), node.end(), 0);
        std::fill(rack.begin(), rack.end(), 0);
    }
    /// A rank's volume, dealt in proportion to these sums.
    Traffic split(int rank, double volume, double sum) const {
        const double here = node[nth(sites_.node[nth(rank)])] / sum;
        const double near = rack[nth(sites_.rack[nth(rank)])] / sum;
        return {.inside_node = volume * here,
                .inside_rack = volume * (near - here),
                .between_racks = volume * (1 - near)};
    }

  private:
    const RankSites& sites_;

  public:
    std::vector<double> node, rack;
};

}  // namespace

FlexibleDispatcher::FlexibleDispatcher(const Placement& holders, int experts)
    : ranks_(static_cast<int>(holders.size())) {
    if (experts < 1 || ranks_ < 1)
        throw UserError(fmt::format("dispatch of {} experts over {} ranks: at least one of each",
                                    experts, ranks_));
    holders_.resize(nth(experts));
    for (int rank = 0; rank < ranks_; ++rank) {
        for (const int e : holders[nth(rank)]) {
            if (e < 0 || e >= experts)
                throw UserError(
                    fmt::format("rank {} holds expert {}, but there are {}", rank, e, experts));
            Holders& of = holders_[nth(e)];
            if (of.rank.empty() || of.rank.back() != rank) {
                of.rank.push_back(rank);
                of.replicas.push_back(0);
            }
            ++of.replicas.back();
            ++of.sum;
        }
    }
}

namespace {

void require_holders(Tokens total, Tokens replicas, int expert) {
    if (replicas == 0)
        throw UserError(
            fmt::format("dispatch: {} tokens for expert {}, which no rank holds", total, expert));
}

}  // namespace

ExchangeTotals FlexibleDispatcher::totals(std::span<const Tokens> tokens,
                                          const RankSites& sites) const {
    check_tokens(tokens, experts(), ranks_);
    ExchangeTotals all{std::vector<double>(nth(ranks_)), std::vector<RankTraffic>(nth(ranks_))};
    const bool apart = sites.all_apart();
    Apportionment apportionment;
    std::vector<Tokens> capacity, overflow, free;
    BySite sources(sites), sinks(sites);
    for (int e = 0; e < experts(); ++e) {
        const auto row = tokens.subspan(nth(e) * nth(ranks_), nth(ranks_));
        const Tokens total = total_tokens(row, e);
        if (total == 0) continue;
        const Holders& holders = holders_[nth(e)];
        require_holders(total, holders.sum, e);
        capacity.resize(holders.rank.size());
        apportionment.split(total, holders.replicas, holders.sum, capacity);

        overflow.assign(row.begin(), row.end());
        free = capacity;
        Tokens free_sum = total;
        for (std::size_t i = 0; i < free.size(); ++i) {
            Tokens& over = overflow[nth(holders.rank[i])];
            const Tokens local = std::min(capacity[i], over);
            over -= local;
            free[i] -= local;
            free_sum -= local;
            all.computed[nth(holders.rank[i])] += static_cast<double>(capacity[i]);
        }
        if (free_sum == 0) continue;
        if (apart) {
            for (std::size_t rank = 0; rank < overflow.size(); ++rank)
                all.traffic[rank].sent.inside_rack += static_cast<double>(overflow[rank]);
            for (std::size_t i = 0; i < free.size(); ++i)
                all.traffic[nth(holders.rank[i])].received.inside_rack +=
                    static_cast<double>(free[i]);
            continue;
        }
        sources.clear();
        sinks.clear();
        const auto sum = static_cast<double>(free_sum);
        for (int rank = 0; rank < ranks_; ++rank)
            sources.add(rank, static_cast<double>(overflow[nth(rank)]));
        for (std::size_t i = 0; i < free.size(); ++i)
            sinks.add(holders.rank[i], static_cast<double>(free[i]));
        for (int rank = 0; rank < ranks_; ++rank)
            all.traffic[nth(rank)].sent +=
                sinks.split(rank, static_cast<double>(overflow[nth(rank)]), sum);
        for (std::size_t i = 0; i < free.size(); ++i)
            all.traffic[nth(holders.rank[i])].received +=
                sources.split(holders.rank[i], static_cast<double>(free[i]), sum);
    }
    return all;
}

void FlexibleDispatcher::layout(std::span<const Tokens> tokens, int rank,
                                RankLayout& layout) const {
    check_tokens(tokens, experts(), ranks_);
    if (rank < 0 || rank >= ranks_) throw UserError(fmt::format("rank {} of {}", rank, ranks_));
    clear(layout, experts(), ranks_);
    Apportionment apportionment;
    std::vector<Tokens> free, local, parts;
    std::vector<int> receivers;
    for (int e = 0; e < experts(); ++e) {
        const auto row = tokens.subspan(nth(e) * nth(ranks_), nth(ranks_));
        const Tokens total = total_tokens(row, e);
        if (total == 0) continue;
        const Holders& holders = holders_[nth(e)];
        require_holders(total, holders.sum, e);
        free.resize(holders.rank.size());
        apportionment.split(total, holders.replicas, holders.sum, free);

        // From here on `free` is of those that have some, whose numbers are `receivers`.
        local.assign(nth(ranks_), 0);
        receivers.clear();
        Tokens free_sum = 0;
        std::size_t mine = std::string_view::npos, kept = 0;
        for (std::size_t i = 0; i < holders.rank.size(); ++i) {
            const int holder = holders.rank[i];
            local[nth(holder)] = std::min(free[i], row[nth(holder)]);
            const Tokens left = free[i] - local[nth(holder)];
            if (left == 0) continue;
            if (holder == rank) mine = kept;
            free[kept++] = left;
            free_sum += left;
            receivers.push_back(holder);
        }
        free.resize(kept);
        layout.to(rank, e).rows = layout.from(rank, e).rows = local[nth(rank)];

        // What a rank with free capacity has is all its own: it sends nothing.
        const bool receives = mine != std::string_view::npos;
        const bool sends = row[nth(rank)] > local[nth(rank)];
        if (!receives && !sends) continue;
        parts.resize(kept);
        const int last = sends ? rank : ranks_ - 1;
        for (int source = 0; source <= last && free_sum > 0; ++source) {
            const Tokens overflow = row[nth(source)] - local[nth(source)];
            if (overflow == 0) continue;
            apportionment.split(overflow, free, free_sum, parts);
            for (std::size_t i = 0; i < kept; ++i) free[i] -= parts[i];
            free_sum -= overflow;
            if (receives) layout.from(source, e).rows = parts[mine];
            if (source == rank)
                for (std::size_t i = 0; i < kept; ++i) layout.to(receivers[i], e).rows = parts[i];
        }
    }
    for (Segment& segment : layout.send) segment.room = segment.rows;
    for (Segment& segment : layout.receive) segment.room = segment.rows;
    lay_out(layout);
}

void FlexibleDispatcher::table(std::span<const Tokens> tokens, DispatchPlan& plan) const {
    std::vector<int> replicas(holders_.size() * nth(ranks_), 0);
    for (std::size_t e = 0; e < holders_.size(); ++e)
        for (std::size_t i = 0; i < holders_[e].rank.size(); ++i)
            replicas[e * nth(ranks_) + nth(holders_[e].rank[i])] = holders_[e].replicas[i];
    plan_dispatch(tokens, replicas, experts(), ranks_, plan);
}

}  // namespace assay::lazarus
