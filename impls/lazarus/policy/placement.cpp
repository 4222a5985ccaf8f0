#include "impls/lazarus/policy/placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>

#include "impls/lazarus/policy/guarded_placement.hpp"
#include "impls/lazarus/policy/vacancies.hpp"
#include "suite/experiment/error.hpp"

namespace assay::lazarus {
namespace {

void check_input(const Replicas& replicas, int nodes, int slots, std::span<const Tokens> loads) {
    if (nodes < 1 || slots < 1) {
        throw UserError(fmt::format("{} nodes with {} slots: at least one of each", nodes, slots));
    }
    if (!loads.empty() && loads.size() != replicas.size()) {
        throw UserError(
            fmt::format("loads of {} experts but replicas of {}", loads.size(), replicas.size()));
    }
    std::int64_t sum = 0;
    for (std::size_t e = 0; e < replicas.size(); ++e) {
        if (replicas[e] < 1) {
            throw UserError(fmt::format("expert {} has {} replicas: at least one", e, replicas[e]));
        }
        sum += replicas[e];
    }
    if (sum != static_cast<std::int64_t>(nodes) * slots) {
        throw UserError(
            fmt::format("{} replicas do not fill {} nodes with {} slots each", sum, nodes, slots));
    }
}

// Cold to hot. Eq. 1 gives no hotter expert fewer replicas, so this is the order by load for its
// counts.
std::vector<int> cold_to_hot(const Replicas& replicas, std::span<const Tokens> loads) {
    std::vector<int> order(replicas.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
        const auto i = static_cast<std::size_t>(a);
        const auto j = static_cast<std::size_t>(b);
        if (replicas[i] != replicas[j]) return replicas[i] < replicas[j];
        return !loads.empty() && loads[i] < loads[j];
    });
    return order;
}

std::vector<int> group_nodes(std::span<const int> ascending, int nodes, int slots) {
    std::vector<int> sizes;
    int used = 0;
    for (std::size_t low = 0; low < ascending.size(); low += static_cast<std::size_t>(slots)) {
        // Only the last group can be cut: `slots` times the representative's replicas never exceeds
        // the replicas of a full group, and these fill at most `slots` slots of every node.
        const int size = std::min(nodes - used, ascending[low]);
        sizes.push_back(size);
        used += size;
    }
    return sizes;
}

Replicas ascending_replicas(const Replicas& replicas) {
    Replicas sorted = replicas;
    std::sort(sorted.begin(), sorted.end());
    return sorted;
}

// Blocks of consecutive experts, coldest first: the first `whole` blocks of `slots` experts, the
// others of `block`. Each takes as many nodes as its coldest member has replicas, from where the
// last one ended and around, skipping nodes without room for the whole block.
Placement blocks_in_turn(const std::vector<int>& order, const Replicas& replicas, int nodes,
                         int slots, int whole, int block) {
    const auto all_nodes = static_cast<std::size_t>(nodes), room = static_cast<std::size_t>(slots);
    Placement placement(all_nodes);
    std::size_t cursor = 0, low = 0;
    for (int number = 0; low < order.size(); ++number) {
        const auto size = number < whole ? room : static_cast<std::size_t>(block);
        const std::size_t high = std::min(order.size(), low + size);
        int wanted = replicas[static_cast<std::size_t>(order[low])];
        for (std::size_t tried = 0; wanted > 0 && tried < all_nodes; ++tried, ++cursor) {
            auto& node = placement[cursor % all_nodes];
            if (node.size() + (high - low) > room) continue;
            for (std::size_t i = low; i < high; ++i) node.push_back(order[i]);
            --wanted;
        }
        low = high;
    }
    return placement;
}

// Expert e on the first min(r_e, nodes) nodes. Only for at most `slots` experts.
Placement nested(const std::vector<int>& order, const Replicas& replicas, int nodes) {
    Placement placement(static_cast<std::size_t>(nodes));
    for (int e : order) {
        const int on = std::min(replicas[static_cast<std::size_t>(e)], nodes);
        for (int n = 0; n < on; ++n) placement[static_cast<std::size_t>(n)].push_back(e);
    }
    return placement;
}

// The replicas that are not placed yet go into the free slots, hottest expert first.
void fill_vacancies(Placement& placement, const std::vector<int>& order, const Replicas& replicas,
                    int slots) {
    Replicas left = replicas;
    for (const auto& node : placement) {
        for (int e : node) --left[static_cast<std::size_t>(e)];
    }
    Vacancies vacancies(placement, slots);
    for (std::size_t i = order.size(); i-- > 0;)
        vacancies.fill(order[i], left[static_cast<std::size_t>(order[i])]);
}

Placement place_mro(const Replicas& replicas, int nodes, int slots, std::span<const Tokens> loads) {
    const std::vector<int> order = cold_to_hot(replicas, loads);
    Placement placement = order.size() <= static_cast<std::size_t>(slots)
                              ? nested(order, replicas, nodes)
                              : blocks_in_turn(order, replicas, nodes, slots, 0, slots);
    fill_vacancies(placement, order, replicas, slots);
    return placement;
}

Placement place_spread(const Replicas& replicas, int nodes, int slots) {
    Placement placement(static_cast<std::size_t>(nodes));
    std::size_t cursor = 0;
    for (std::size_t e = 0; e < replicas.size(); ++e) {
        for (int r = 0; r < replicas[e]; ++r) {
            while (placement[cursor % placement.size()].size() == static_cast<std::size_t>(slots))
                ++cursor;
            placement[cursor++ % placement.size()].push_back(static_cast<int>(e));
        }
    }
    return placement;
}

Placement place_compact(const Replicas& replicas, int nodes, int slots) {
    Placement placement(static_cast<std::size_t>(nodes));
    std::size_t cursor = 0;
    for (std::size_t e = 0; e < replicas.size(); ++e) {
        for (int r = 0; r < replicas[e]; ++r) {
            if (placement[cursor].size() == static_cast<std::size_t>(slots)) ++cursor;
            placement[cursor].push_back(static_cast<int>(e));
        }
    }
    return placement;
}

}  // namespace

std::string_view to_string(PlacementPolicy policy) {
    switch (policy) {
        case PlacementPolicy::mro:
            return "mro";
        case PlacementPolicy::spread:
            return "spread";
        case PlacementPolicy::compact:
            return "compact";
        case PlacementPolicy::mro_guarded:
            return "mro_guarded";
    }
    return "";
}

std::optional<PlacementPolicy> parse_placement_policy(std::string_view text) {
    for (auto policy : {PlacementPolicy::mro, PlacementPolicy::spread, PlacementPolicy::compact,
                        PlacementPolicy::mro_guarded}) {
        if (text == to_string(policy)) return policy;
    }
    return std::nullopt;
}

Placement place(PlacementPolicy policy, const Replicas& replicas, int nodes, int slots,
                std::span<const Tokens> loads) {
    check_input(replicas, nodes, slots, loads);
    Placement placement;
    switch (policy) {
        case PlacementPolicy::mro:
            placement = place_mro(replicas, nodes, slots, loads);
            break;
        case PlacementPolicy::spread:
            placement = place_spread(replicas, nodes, slots);
            break;
        case PlacementPolicy::compact:
            placement = place_compact(replicas, nodes, slots);
            break;
        case PlacementPolicy::mro_guarded:
            return guarded_placement(replicas, nodes, slots, loads).placement;
    }
    for (auto& node : placement) std::sort(node.begin(), node.end());
    return placement;
}

Placement place_blocks(const Replicas& replicas, int nodes, int slots, int whole, int block,
                       std::span<const Tokens> loads) {
    check_input(replicas, nodes, slots, loads);
    if (whole < 0 || block < 1 || block > slots) {
        throw UserError(
            fmt::format("blocks of {} experts after {} whole groups: 1 to {} after 0 "
                        "or more",
                        block, whole, slots));
    }
    const std::vector<int> order = cold_to_hot(replicas, loads);
    Placement placement = blocks_in_turn(order, replicas, nodes, slots, whole, block);
    fill_vacancies(placement, order, replicas, slots);
    for (auto& node : placement) std::sort(node.begin(), node.end());
    return placement;
}

std::vector<int> mro_group_nodes(const Replicas& replicas, int nodes, int slots) {
    check_input(replicas, nodes, slots, {});
    return group_nodes(ascending_replicas(replicas), nodes, slots);
}

bool mro_truncated(const Replicas& replicas, int nodes, int slots) {
    if (replicas.size() <= static_cast<std::size_t>(std::max(slots, 0))) return false;
    const std::vector<int> sizes = mro_group_nodes(replicas, nodes, slots);
    const Replicas sorted = ascending_replicas(replicas);
    return sizes.back() < sorted[(sizes.size() - 1) * static_cast<std::size_t>(slots)];
}

}  // namespace assay::lazarus
