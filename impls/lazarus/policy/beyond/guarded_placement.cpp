#include "impls/lazarus/policy/beyond/guarded_placement.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "impls/lazarus/policy/plan/mro.hpp"
#include "impls/lazarus/policy/plan/placement.hpp"

namespace assay::lazarus {
namespace {

std::vector<NodeMask> minimal_of(const Placement& placement, std::size_t experts) {
    return minimal_masks(holder_masks(placement, static_cast<int>(experts)));
}

// Every size below `slots`; of many, about a dozen evenly spaced ones. Large first: near mro.
std::vector<int> block_sizes(int slots) {
    std::vector<int> sizes;
    const int step = std::max(1, slots / 12);
    for (int block = slots - 1; block >= 1; block -= step) sizes.push_back(block);
    if (!sizes.empty() && sizes.back() != 1) sizes.push_back(1);
    return sizes;
}

// The best plan so far, and what it is measured by.
class Contest {
  public:
    Contest(std::size_t experts, int nodes, SearchGoal goal, Placement first,
            const Survivors& survivors)
        : experts_(experts), nodes_(nodes), goal_(std::move(goal)) {
        best_.placement = std::move(first);
        quality_ = judge(survivors, goal_);
        best_.dominates = quality_.below_wanted == 0;
    }

    void enter(Placement placement, GuardedSource source) {
        const std::vector<NodeMask> minimal = minimal_of(placement, experts_);
        work_ += static_cast<double>(minimal.size() * experts_) / 4;
        const auto survivors = exact_survivors(minimal, nodes_);
        if (!survivors) return;
        work_ += counting_work(minimal.size(), nodes_);
        const PlanQuality found = judge(*survivors, goal_);
        if (!found.better_than(quality_)) return;
        quality_ = found;
        best_ = {std::move(placement), found.below_wanted == 0, source};
    }

    const GuardedPlacement& best() const { return best_; }
    const SearchGoal& goal() const { return goal_; }
    double work() const { return work_; }

  private:
    std::size_t experts_;
    int nodes_;
    SearchGoal goal_;
    GuardedPlacement best_;
    PlanQuality quality_;
    double work_ = 0;
};

}  // namespace

std::string_view to_string(GuardedSource source) {
    switch (source) {
        case GuardedSource::mro:
            return "mro";
        case GuardedSource::spread:
            return "spread";
        case GuardedSource::blocks:
            return "blocks";
        case GuardedSource::search:
            return "search";
    }
    return "";
}

GuardedPlacement guarded_placement(const Replicas& replicas, int nodes, int slots,
                                   std::span<const Tokens> loads, const GuardedOptions& options) {
    Placement mro = place(PlacementPolicy::mro, replicas, nodes, slots, loads);
    if (!mro_truncated(replicas, nodes, slots)) return {std::move(mro), true, GuardedSource::mro};
    if (nodes > most_masked_nodes) return {std::move(mro), false, GuardedSource::mro};

    const std::size_t experts = replicas.size();
    const auto survivors = exact_survivors(minimal_of(mro, experts), nodes);
    if (!survivors) return {std::move(mro), false, GuardedSource::mro};
    Placement spread = place(PlacementPolicy::spread, replicas, nodes, slots);
    const Survivors spread_bound = survivors_bound(minimal_of(spread, experts), nodes);
    Contest contest(experts, nodes, {*survivors, larger(*survivors, spread_bound)}, std::move(mro),
                    *survivors);
    contest.enter(std::move(spread), GuardedSource::spread);

    const double placing_work = 4.0 * nodes * slots;
    double placed = 0;
    const int groups = static_cast<int>((experts - 1) / static_cast<std::size_t>(slots)) + 1;
    for (int whole = groups - 1; whole >= 0; --whole) {
        for (int block : block_sizes(slots)) {
            if (contest.work() + placed > options.block_work) break;
            placed += placing_work;
            contest.enter(
                place_blocks(replicas, nodes, slots, {.whole = whole, .block = block}, loads),
                GuardedSource::blocks);
        }
    }
    if (options.search_work > 0) {
        Placement found = search_placement(contest.best().placement, static_cast<int>(experts),
                                           contest.goal(), {options.seed, options.search_work});
        for (auto& node : found) std::sort(node.begin(), node.end());
        contest.enter(std::move(found), GuardedSource::search);
    }
    return contest.best();
}

}  // namespace assay::lazarus
