#include "impls/lazarus/policy/placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>

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

// The nodes with free slots while the vacancies are filled.
class Vacancies {
  public:
    Vacancies(Placement& placement, int slots)
        : placement_(placement), slots_(static_cast<std::size_t>(slots)) {
        for (std::size_t n = 0; n < placement.size(); ++n) {
            if (placement[n].size() < slots_) free_.push_back(n);
        }
    }

    // Puts `count` replicas of `expert` into free slots: nodes without it first, then the emptiest,
    // then the lowest.
    void fill(int expert, int count) {
        if (count == 0) return;
        using Candidate = std::tuple<bool, std::size_t, std::size_t>;  // holds it, used slots, node
        std::vector<Candidate> candidates;
        candidates.reserve(free_.size());
        for (std::size_t n : free_) {
            const auto& node = placement_[n];
            const bool holds = std::find(node.begin(), node.end(), expert) != node.end();
            candidates.emplace_back(holds, node.size(), n);
        }
        std::priority_queue queue(std::greater<>{}, std::move(candidates));
        for (; count > 0; --count) {
            const std::size_t n = std::get<2>(queue.top());
            queue.pop();
            placement_[n].push_back(expert);
            if (placement_[n].size() < slots_) queue.emplace(true, placement_[n].size(), n);
        }
        free_.erase(std::remove_if(free_.begin(), free_.end(),
                                   [&](std::size_t n) { return placement_[n].size() == slots_; }),
                    free_.end());
    }

  private:
    Placement& placement_;
    std::size_t slots_;
    std::vector<std::size_t> free_;
};

Placement place_mro(const Replicas& replicas, int nodes, int slots, std::span<const Tokens> loads) {
    const std::vector<int> order = cold_to_hot(replicas, loads);
    Replicas left(order.size());  // in `order`
    for (std::size_t i = 0; i < order.size(); ++i)
        left[i] = replicas[static_cast<std::size_t>(order[i])];

    Placement placement(static_cast<std::size_t>(nodes));
    auto add = [&](std::size_t node, std::size_t i) {
        placement[node].push_back(order[i]);
        --left[i];
    };
    const auto group = static_cast<std::size_t>(slots);
    if (order.size() <= group) {
        for (std::size_t i = 0; i < order.size(); ++i) {
            const int on = std::min(left[i], nodes);
            for (int n = 0; n < on; ++n) add(static_cast<std::size_t>(n), i);
        }
    } else {
        std::size_t node = 0, low = 0;
        for (int size : group_nodes(left, nodes, slots)) {
            const std::size_t high = std::min(order.size(), low + group);
            for (int n = 0; n < size; ++n, ++node) {
                for (std::size_t i = low; i < high; ++i) add(node, i);
            }
            low = high;
        }
    }
    Vacancies vacancies(placement, slots);
    for (std::size_t i = order.size(); i-- > 0;) vacancies.fill(order[i], left[i]);
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
    }
    return "";
}

std::optional<PlacementPolicy> parse_placement_policy(std::string_view text) {
    for (auto policy : {PlacementPolicy::mro, PlacementPolicy::spread, PlacementPolicy::compact}) {
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
    }
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
