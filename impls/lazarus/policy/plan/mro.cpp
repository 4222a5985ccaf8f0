#include "impls/lazarus/policy/plan/mro.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
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

// A placement while it is being filled: by expert, so that each node's experts come out ascending.
class Filling {
  public:
    Filling(const Replicas& replicas, int nodes, int slots)
        : left_(replicas),
          nodes_of_(replicas.size()),
          used_(static_cast<std::size_t>(nodes), 0),
          slots_(static_cast<std::size_t>(slots)) {}

    std::size_t room(std::size_t node) const { return slots_ - used_[node]; }
    void put(int expert, std::size_t node) {
        nodes_of_[static_cast<std::size_t>(expert)].push_back(node);
        --left_[static_cast<std::size_t>(expert)];
        ++used_[node];
    }

    // The replicas that are not placed yet go into the free slots, hottest expert first: to nodes
    // without it, then the emptiest, then the lowest. Where they go the paper leaves open
    // ("uniformly"); the order is ours.
    void fill_vacancies(const std::vector<int>& cold_to_hot) {
        vacant_.assign(slots_, {});
        for (std::size_t n = 0; n < used_.size(); ++n) {
            if (used_[n] < slots_) vacant_[used_[n]].push_back(n);
        }
        for (auto expert = cold_to_hot.rbegin(); expert != cold_to_hot.rend(); ++expert) {
            const auto e = static_cast<std::size_t>(*expert);
            if (left_[e] == 0) continue;
            std::vector<bool> holds(used_.size(), false);
            for (std::size_t n : nodes_of_[e]) holds[n] = true;
            Nodes moved;
            for (std::size_t used = 0; used < slots_ && (left_[e] > 0 || !moved.empty()); ++used) {
                Nodes next = spend(*expert, used, [&](std::size_t n) { return !holds[n]; });
                admit(std::move(moved), used);
                moved = std::move(next);
            }
            // Now every vacant node holds it.
            for (std::size_t used = 0; left_[e] > 0; ++used)
                admit(spend(*expert, used, [](std::size_t) { return true; }), used + 1);
        }
    }

    Placement by_node() const {
        Placement placement(used_.size());
        for (std::size_t n = 0; n < used_.size(); ++n) placement[n].reserve(used_[n]);
        for (std::size_t e = 0; e < nodes_of_.size(); ++e) {
            for (std::size_t n : nodes_of_[e]) placement[n].push_back(static_cast<int>(e));
        }
        return placement;
    }

  private:
    using Nodes = std::vector<std::size_t>;

    // One replica for each of the nodes with `used` slots in use that may have it, lowest first,
    // while there are any left. The nodes that got one are vacant no more, until they are admitted.
    template <class May>
    Nodes spend(int expert, std::size_t used, May may) {
        Nodes& here = vacant_[used];
        Nodes got;
        std::size_t kept = 0, at = 0;
        for (; at < here.size() && left_[static_cast<std::size_t>(expert)] > 0; ++at) {
            if (may(here[at])) {
                put(expert, here[at]);
                got.push_back(here[at]);
            } else {
                here[kept++] = here[at];
            }
        }
        const auto begin = here.begin();
        here.erase(begin + static_cast<std::ptrdiff_t>(kept),
                   begin + static_cast<std::ptrdiff_t>(at));
        return got;
    }

    void admit(Nodes nodes, std::size_t used) {
        if (used == slots_ || nodes.empty()) return;
        const auto old = static_cast<std::ptrdiff_t>(vacant_[used].size());
        Nodes& here = vacant_[used];
        here.insert(here.end(), nodes.begin(), nodes.end());
        std::inplace_merge(here.begin(), here.begin() + old, here.end());
    }

    Replicas left_;
    std::vector<Nodes> nodes_of_;    // [expert], a node once per replica
    std::vector<std::size_t> used_;  // [node]: slots
    std::size_t slots_;
    std::vector<Nodes> vacant_;  // [used slots]: nodes, ascending
};

// Blocks of consecutive experts, coldest first: the first `whole` blocks of `slots` experts, the
// others of `block`. Each takes as many nodes as its coldest member has replicas, from where the
// last one ended and around, skipping nodes without room for the whole block.
void put_blocks(const std::vector<int>& order, const Replicas& replicas, int nodes, int slots,
                int whole, int block, Filling& filling) {
    const auto all_nodes = static_cast<std::size_t>(nodes);
    std::size_t cursor = 0, low = 0;
    for (int number = 0; low < order.size(); ++number) {
        const auto size = static_cast<std::size_t>(number < whole ? slots : block);
        const std::size_t high = std::min(order.size(), low + size);
        int wanted = replicas[static_cast<std::size_t>(order[low])];
        for (std::size_t tried = 0; wanted > 0 && tried < all_nodes; ++tried, ++cursor) {
            const std::size_t node = cursor % all_nodes;
            if (filling.room(node) < high - low) continue;
            for (std::size_t i = low; i < high; ++i) filling.put(order[i], node);
            --wanted;
        }
        low = high;
    }
}

// Expert e on the first min(r_e, nodes) nodes. Only for at most `slots` experts.
void put_nested(const Replicas& replicas, int nodes, Filling& filling) {
    for (std::size_t e = 0; e < replicas.size(); ++e) {
        const auto on = static_cast<std::size_t>(std::min(replicas[e], nodes));
        for (std::size_t n = 0; n < on; ++n) filling.put(static_cast<int>(e), n);
    }
}

}  // namespace

Placement place_mro(const Replicas& replicas, int nodes, int slots, std::span<const Tokens> loads) {
    check_placement(replicas, nodes, slots, loads);
    const std::vector<int> order = cold_to_hot(replicas, loads);
    Filling filling(replicas, nodes, slots);
    if (order.size() <= static_cast<std::size_t>(slots)) {
        put_nested(replicas, nodes, filling);
    } else {
        put_blocks(order, replicas, nodes, slots, 0, slots, filling);
    }
    filling.fill_vacancies(order);
    return filling.by_node();
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

Placement place_blocks(const Replicas& replicas, int nodes, int slots, const Blocks& blocks,
                       std::span<const Tokens> loads) {
    check_placement(replicas, nodes, slots, loads);
    const auto& [whole, block, fillers] = blocks;
    if (whole < 0 || block < 1 || block > slots || fillers < 0 ||
        static_cast<std::size_t>(fillers) > replicas.size()) {
        throw UserError(
            fmt::format("blocks of {} experts after {} whole groups, {} experts only filling: 1 to "
                        "{} after 0 or more, at most {}",
                        block, whole, fillers, slots, replicas.size()));
    }
    const auto grouped = static_cast<int>(replicas.size()) - fillers;
    std::vector<int> order = cold_to_hot(replicas, loads);
    const auto groups = std::stable_partition(order.begin(), order.end(),
                                              [&](int expert) { return expert >= grouped; });
    Filling filling(replicas, nodes, slots);
    put_blocks({groups, order.end()}, replicas, nodes, slots, whole, block, filling);
    filling.fill_vacancies(order);
    return filling.by_node();
}

}  // namespace assay::lazarus
