#include "impls/lazarus/policy/dispatch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <numeric>

#include "suite/base/error.hpp"

namespace assay::lazarus {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr Tokens max_tokens_per_expert = Tokens{1} << 62;

struct Share {
    Tokens floor;
    Tokens remainder;
};

// a·b/c; the 64-bit path is the one of every training step.
Share share_of(Tokens a, Tokens b, Tokens c) {
    constexpr Tokens narrow = Tokens{1} << 31;
    if (a < narrow && b < narrow) return {a * b / c, a * b % c};
    const Wide product = static_cast<Wide>(a) * static_cast<Wide>(b);
    return {static_cast<Tokens>(product / static_cast<Wide>(c)),
            static_cast<Tokens>(product % static_cast<Wide>(c))};
}

// Splits `amount` in proportion to weights by largest remainder, ties to the lower index. The part
// of an entry never exceeds its weight where amount <= sum of weights.
class Apportionment {
  public:
    explicit Apportionment(std::size_t size) : remainders_(size), order_(size) {}

    template <class Weights>
    void split(Tokens amount, const Weights& weights, Tokens weight_sum, std::span<Tokens> parts) {
        Tokens left = amount;
        for (std::size_t j = 0; j < parts.size(); ++j) {
            const auto weight = static_cast<Tokens>(weights[j]);
            const Share share = weight == 0 ? Share{0, 0} : share_of(amount, weight, weight_sum);
            parts[j] = share.floor;
            remainders_[j] = share.remainder;
            left -= share.floor;
        }
        if (left == 0) return;
        // `left` is below the number of non-zero remainders, so no part grows beyond its ceiling.
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        std::nth_element(
            order_.begin(), order_.begin() + (left - 1), order_.end(),
            [&](std::size_t a, std::size_t b) {
                return remainders_[a] != remainders_[b] ? remainders_[a] > remainders_[b] : a < b;
            });
        for (std::size_t i = 0; i < static_cast<std::size_t>(left); ++i) ++parts[order_[i]];
    }

  private:
    std::vector<Tokens> remainders_;
    std::vector<std::size_t> order_;
};

void check_input(std::span<const Tokens> tokens, std::span<const int> replicas, int experts,
                 int ranks) {
    if (experts < 1 || ranks < 1) {
        throw UserError(fmt::format("dispatch of {} experts over {} ranks: at least one of each",
                                    experts, ranks));
    }
    const std::size_t size = static_cast<std::size_t>(experts) * static_cast<std::size_t>(ranks);
    if (tokens.size() != size || replicas.size() != size) {
        throw UserError(fmt::format(
            "dispatch of {} experts over {} ranks wants {} counts, not {} tokens and {} "
            "replicas",
            experts, ranks, size, tokens.size(), replicas.size()));
    }
    for (std::size_t i = 0; i < size; ++i) {
        if (tokens[i] < 0 || replicas[i] < 0) {
            throw UserError(
                fmt::format("dispatch: {} tokens and {} replicas of expert {} on rank {}",
                            tokens[i], replicas[i], i / static_cast<std::size_t>(ranks),
                            i % static_cast<std::size_t>(ranks)));
        }
    }
}

Tokens total_tokens(std::span<const Tokens> tokens, int expert) {
    Tokens total = 0;
    for (Tokens t : tokens) {
        if (t > max_tokens_per_expert - total) {
            throw UserError(fmt::format("dispatch: more than 2^62 tokens for expert {}", expert));
        }
        total += t;
    }
    return total;
}

}  // namespace

void plan_dispatch(std::span<const Tokens> tokens, std::span<const int> replicas, int experts,
                   int ranks, DispatchPlan& plan) {
    check_input(tokens, replicas, experts, ranks);
    const auto n = static_cast<std::size_t>(ranks);
    plan.experts = experts;
    plan.ranks = ranks;
    plan.counts.assign(static_cast<std::size_t>(experts) * n * n, 0);
    plan.padded.clear();

    Apportionment apportionment(n);
    std::vector<Tokens> free(n);
    for (int e = 0; e < experts; ++e) {
        const auto row = tokens.subspan(static_cast<std::size_t>(e) * n, n);
        const auto on = replicas.subspan(static_cast<std::size_t>(e) * n, n);
        const Tokens total = total_tokens(row, e);
        if (total == 0) continue;
        const Tokens holders = std::accumulate(on.begin(), on.end(), Tokens{0});
        if (holders == 0) {
            throw UserError(
                fmt::format("dispatch: {} tokens for expert {}, which no rank holds", total, e));
        }
        Tokens* counts = plan.counts.data() + static_cast<std::size_t>(e) * n * n;
        apportionment.split(total, on, holders, free);  // capacities
        Tokens free_sum = total;
        for (std::size_t j = 0; j < n; ++j) {
            const Tokens local = std::min(free[j], row[j]);
            counts[j * n + j] = local;
            free[j] -= local;
            free_sum -= local;
        }
        for (std::size_t source = 0; source < n; ++source) {
            const Tokens overflow = row[source] - counts[source * n + source];
            if (overflow == 0) continue;
            // A source with overflow has no free capacity, so its own entry is zero and can be set
            // aside.
            const Tokens local = counts[source * n + source];
            const std::span<Tokens> parts(counts + source * n, n);
            apportionment.split(overflow, free, free_sum, parts);
            for (std::size_t j = 0; j < n; ++j) free[j] -= parts[j];
            free_sum -= overflow;
            parts[source] += local;
        }
        assert(free_sum == 0);
    }
}

DispatchPlan plan_dispatch(std::span<const Tokens> tokens, std::span<const int> replicas,
                           int experts, int ranks) {
    DispatchPlan plan;
    plan_dispatch(tokens, replicas, experts, ranks, plan);
    return plan;
}

std::vector<int> replica_counts(const Placement& holders, int experts) {
    if (experts < 1) throw UserError(fmt::format("{} experts: at least one", experts));
    std::vector<int> counts(static_cast<std::size_t>(experts) * holders.size(), 0);
    for (std::size_t rank = 0; rank < holders.size(); ++rank) {
        for (int e : holders[rank]) {
            if (e < 0 || e >= experts) {
                throw UserError(
                    fmt::format("rank {} holds expert {}, but there are {}", rank, e, experts));
            }
            ++counts[static_cast<std::size_t>(e) * holders.size() + rank];
        }
    }
    return counts;
}

void rank_layout(const DispatchPlan& plan, int rank, RankLayout& layout) {
    if (rank < 0 || rank >= plan.ranks) {
        throw UserError(fmt::format("rank {} of {} ranks", rank, plan.ranks));
    }
    const auto ranks = static_cast<std::size_t>(plan.ranks);
    const auto experts = static_cast<std::size_t>(plan.experts);
    layout.experts = plan.experts;
    layout.ranks = plan.ranks;
    layout.send_counts.assign(ranks, 0);
    layout.receive_counts.assign(ranks, 0);
    layout.send.assign(ranks * experts, {});
    layout.receive.assign(ranks * experts, {});

    Tokens send_row = 0, receive_row = 0;
    for (std::size_t peer = 0; peer < ranks; ++peer) {
        const int p = static_cast<int>(peer);
        for (std::size_t e = 0; e < experts; ++e) {
            const Tokens out = plan.at(static_cast<int>(e), rank, p);
            // Ordinals follow the destinations: this one begins where the previous destination's
            // ended.
            const std::size_t i = peer * experts + e;
            const Tokens ordinal =
                peer == 0 ? 0
                          : layout.send[i - experts].first_ordinal + layout.send[i - experts].rows;
            const Tokens out_room = plan.room(static_cast<int>(e), rank, p);
            layout.send[i] = {send_row, out, ordinal, out_room};
            layout.send_counts[peer] += out_room;
            send_row += out_room;

            const Tokens in = plan.at(static_cast<int>(e), p, rank);
            const Tokens in_room = plan.room(static_cast<int>(e), p, rank);
            layout.receive[i] = {receive_row, in, 0, in_room};
            layout.receive_counts[peer] += in_room;
            receive_row += in_room;
        }
    }
    layout.send_total = send_row;
    layout.receive_total = receive_row;
}

RankLayout rank_layout(const DispatchPlan& plan, int rank) {
    RankLayout layout;
    rank_layout(plan, rank, layout);
    return layout;
}

}  // namespace assay::lazarus
