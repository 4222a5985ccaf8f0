#include "impls/lazarus/policy/dispatch/dispatch_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <numeric>

#include "impls/lazarus/policy/dispatch/apportionment.hpp"
#include "impls/lazarus/policy/dispatch/dispatcher.hpp"
#include "suite/base/error.hpp"

namespace assay::lazarus {
namespace {

void check_input(std::span<const Tokens> tokens, std::span<const int> replicas, int experts,
                 int ranks) {
    if (experts < 1 || ranks < 1) {
        throw UserError(fmt::format("dispatch of {} experts over {} ranks: at least one of each",
                                    experts, ranks));
    }
    const std::size_t size = static_cast<std::size_t>(experts) * static_cast<std::size_t>(ranks);
    check_tokens(tokens, experts, ranks);
    if (replicas.size() != size)
        throw UserError(fmt::format("dispatch of {} experts over {} ranks wants {} counts, not {}",
                                    experts, ranks, size, replicas.size()));
    for (std::size_t i = 0; i < size; ++i)
        if (replicas[i] < 0)
            throw UserError(fmt::format("dispatch: {} replicas of expert {} on rank {}",
                                        replicas[i], i / static_cast<std::size_t>(ranks),
                                        i % static_cast<std::size_t>(ranks)));
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

    Apportionment apportionment;
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

}  // namespace assay::lazarus
