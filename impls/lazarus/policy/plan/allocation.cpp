#include "impls/lazarus/policy/plan/allocation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>

#include "suite/base/error.hpp"

namespace assay::lazarus {
namespace {

// The product load · slots of 2^63 · 2^31 and the sum of 2^31 loads both fit.
__extension__ using Wide = unsigned __int128;

void check_input(std::span<const Tokens> loads, int nodes, int slots, int min_replicas) {
    if (loads.empty()) throw UserError("no experts: give one load per expert");
    if (nodes < 1) throw UserError(fmt::format("{} nodes: at least one is needed", nodes));
    if (slots < 1) throw UserError(fmt::format("{} slots per node: at least one is needed", slots));
    if (min_replicas < 1) {
        throw UserError(
            fmt::format("minimum of {} replicas per expert: at least one is needed", min_replicas));
    }
    for (std::size_t e = 0; e < loads.size(); ++e) {
        if (loads[e] < 0) {
            throw UserError(fmt::format(
                "load of expert {} is {}: loads are counts of tokens, 0 or more", e, loads[e]));
        }
    }
    const std::int64_t total = static_cast<std::int64_t>(nodes) * slots;
    if (total > std::numeric_limits<int>::max()) {
        throw UserError(
            fmt::format("{} nodes with {} slots each: more than 2^31-1 slots", nodes, slots));
    }
    if (static_cast<std::uint64_t>(total) < loads.size()) {
        throw UserError(
            fmt::format("infeasible: {} nodes with {} slots have {} slots for {} experts; add "
                        "nodes or slots until every expert has one",
                        nodes, slots, total, loads.size()));
    }
}

}  // namespace

Allocation allocate(std::span<const Tokens> loads, int nodes, int slots, int min_replicas) {
    check_input(loads, nodes, slots, min_replicas);
    const std::size_t experts = loads.size();
    std::vector<int> order(experts);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
        return loads[static_cast<std::size_t>(a)] < loads[static_cast<std::size_t>(b)];
    });

    int left = nodes * slots;
    Wide load_left = 0;
    for (Tokens t : loads) load_left += static_cast<Wide>(t);

    Allocation result;
    result.min_replicas_used = std::min(min_replicas, left / static_cast<int>(experts));
    result.replicas.resize(experts);
    for (std::size_t i = 0; i < experts; ++i) {
        const auto e = static_cast<std::size_t>(order[i]);
        const Wide share = load_left > 0
                               ? static_cast<Wide>(loads[e]) * static_cast<Wide>(left) / load_left
                               : static_cast<Wide>(left) / static_cast<Wide>(experts - i);
        result.replicas[e] = std::max(static_cast<int>(share), result.min_replicas_used);
        left -= result.replicas[e];
        load_left -= static_cast<Wide>(loads[e]);
    }
    return result;
}

}  // namespace assay::lazarus
