#include "impls/lazarus/policy/plan/mro.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>

#include "impls/lazarus/policy/plan/placement.hpp"
#include "suite/base/error.hpp"

namespace assay::lazarus {
namespace {

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

// The nodes with free slots of a placement that is being filled up. Where leftover replicas go once
// the groups have their nodes the paper leaves open ("uniformly"); the order is ours.
class Vacancies {
  public:
    Vacancies(Placement& placement, int slots)
        : placement_(placement), slots_(static_cast<std::size_t>(slots)) {
        for (std::size_t n = 0; n < placement.size(); ++n) {
            if (placement[n].size() < slots_) free_.push_back(n);
        }
    }

    // Puts `count` replicas of `expert` into free slots: nodes without it first, then the
    // emptiest, then the lowest. Precondition: there are as many free slots.
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

Placement sorted(Placement placement) {
    for (auto& node : placement) std::sort(node.begin(), node.end());
    return placement;
}

}  // namespace

Placement place_mro(const Replicas& replicas, int nodes, int slots, std::span<const Tokens> loads) {
    check_placement(replicas, nodes, slots, loads);
    const std::vector<int> order = cold_to_hot(replicas, loads);
    Placement placement = order.size() <= static_cast<std::size_t>(slots)
                              ? nested(order, replicas, nodes)
                              : blocks_in_turn(order, replicas, nodes, slots, 0, slots);
    fill_vacancies(placement, order, replicas, slots);
    return sorted(std::move(placement));
}

std::vector<int> mro_group_nodes(const Replicas& replicas, int nodes, int slots) {
    check_placement(replicas, nodes, slots, {});
    return group_nodes(ascending_replicas(replicas), nodes, slots);
}

bool mro_truncated(const Replicas& replicas, int nodes, int slots) {
    if (replicas.size() <= static_cast<std::size_t>(std::max(slots, 0))) return false;
    const std::vector<int> sizes = mro_group_nodes(replicas, nodes, slots);
    const Replicas sorted = ascending_replicas(replicas);
    return sizes.back() < sorted[(sizes.size() - 1) * static_cast<std::size_t>(slots)];
}

Placement place_blocks(const Replicas& replicas, int nodes, int slots, int whole, int block,
                       std::span<const Tokens> loads) {
    check_placement(replicas, nodes, slots, loads);
    if (whole < 0 || block < 1 || block > slots) {
        throw UserError(
            fmt::format("blocks of {} experts after {} whole groups: 1 to {} after 0 "
                        "or more",
                        block, whole, slots));
    }
    const std::vector<int> order = cold_to_hot(replicas, loads);
    Placement placement = blocks_in_turn(order, replicas, nodes, slots, whole, block);
    fill_vacancies(placement, order, replicas, slots);
    return sorted(std::move(placement));
}

}  // namespace assay::lazarus
