#include "impls/lazarus/policy/beyond/guarded_placement.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "impls/lazarus/policy/plan/mro.hpp"
#include "impls/lazarus/policy/plan/placement.hpp"

namespace assay::lazarus {
namespace {

// What is placed anew: everything, or the nodes of overlap's last groups.
struct Problem {
    Replicas replicas;
    std::vector<Tokens> loads;  // or empty
    int nodes = 0, slots = 0;
    int fillers = 0;  // the last experts by id: held by earlier groups too, here they only fill
    Placement mro;

    // Of the experts that live here alone.
    std::vector<NodeMask> minimal(const Placement& placement) const {
        auto masks = holder_masks(placement, static_cast<int>(replicas.size()));
        masks.resize(replicas.size() - static_cast<std::size_t>(fillers));
        return minimal_masks(std::move(masks));
    }
};

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
    Contest(const Problem& problem, SearchGoal goal, const Survivors& survivors)
        : problem_(problem), goal_(std::move(goal)) {
        best_.placement = problem.mro;
        quality_ = judge(survivors, goal_);
        best_.dominates = quality_.below_wanted == 0;
    }

    void enter(Placement placement, GuardedSource source) {
        const std::vector<NodeMask> minimal = problem_.minimal(placement);
        work_ += static_cast<double>(minimal.size() * problem_.replicas.size()) / 4;
        const auto survivors = exact_survivors(minimal, problem_.nodes);
        if (!survivors) return;
        work_ += counting_work(minimal.size(), problem_.nodes);
        const PlanQuality found = judge(*survivors, goal_);
        if (!found.better_than(quality_)) return;
        quality_ = found;
        best_ = {std::move(placement), found.below_wanted == 0, source};
    }

    const GuardedPlacement& best() const { return best_; }
    const SearchGoal& goal() const { return goal_; }
    double work() const { return work_; }

  private:
    const Problem& problem_;
    SearchGoal goal_;
    GuardedPlacement best_;
    PlanQuality quality_;
    double work_ = 0;
};

// `dominates`: never fewer survivors than mro and, where `above_spread`, than spread.
GuardedPlacement repair(const Problem& problem, bool above_spread, const GuardedOptions& options) {
    const auto& [replicas, loads, nodes, slots, fillers, mro] = problem;
    const auto survivors = exact_survivors(problem.minimal(mro), nodes);
    if (!survivors) return {mro, false, GuardedSource::mro};
    Placement spread = place(PlacementPolicy::spread, replicas, nodes, slots);
    const Survivors wanted =
        above_spread ? larger(*survivors, survivors_bound(problem.minimal(spread), nodes))
                     : *survivors;
    Contest contest(problem, {*survivors, wanted}, *survivors);
    contest.enter(std::move(spread), GuardedSource::spread);

    const double placing_work = 4.0 * nodes * slots;
    double placed = 0;
    const int groups = (static_cast<int>(replicas.size()) - fillers - 1) / slots + 1;
    for (int whole = groups - 1; whole >= 0; --whole) {
        for (int block : block_sizes(slots)) {
            if (contest.work() + placed > options.block_work) break;
            placed += placing_work;
            const Blocks blocks{.whole = whole, .block = block, .fillers = fillers};
            contest.enter(place_blocks(replicas, nodes, slots, blocks, loads),
                          GuardedSource::blocks);
        }
    }
    if (options.search_work > 0) {
        Placement found = search_placement(
            contest.best().placement, static_cast<int>(replicas.size()), contest.goal(),
            {.seed = options.seed, .work = options.search_work, .fillers = fillers});
        for (auto& node : found) std::sort(node.begin(), node.end());
        contest.enter(std::move(found), GuardedSource::search);
    }
    return contest.best();
}

// First node of the last groups of overlap that are rearranged: at least two, and no more than can
// be counted with what their alternatives have in holder sets.
std::optional<std::size_t> tail_of(const std::vector<int>& group_nodes, int nodes) {
    constexpr int most_groups = 8;
    int on = 0, groups = 0;
    for (auto size = group_nodes.rbegin(); size != group_nodes.rend(); ++size, ++groups) {
        if (groups == most_groups || on + *size > most_masked_nodes) break;
        on += *size;
    }
    if (groups < 2) return std::nullopt;
    return static_cast<std::size_t>(nodes - on);
}

// A cut overlap uses up the nodes, so its last groups are its last nodes. Experts of the groups
// before are on these nodes only with what replicas were left over.
GuardedPlacement repair_tail(Placement mro, std::size_t first, std::size_t experts, int slots,
                             std::span<const Tokens> loads, const GuardedOptions& options) {
    std::vector<bool> earlier(experts, false);
    for (std::size_t n = 0; n < first; ++n) {
        for (int e : mro[n]) earlier[static_cast<std::size_t>(e)] = true;
    }
    std::vector<int> count(experts, 0);
    for (std::size_t n = first; n < mro.size(); ++n) {
        for (int e : mro[n]) ++count[static_cast<std::size_t>(e)];
    }
    Problem problem;
    problem.nodes = static_cast<int>(mro.size() - first);
    problem.slots = slots;
    std::vector<int> expert_of, number(experts, -1);  // here, of the whole
    for (const bool filler : {false, true}) {
        for (std::size_t e = 0; e < experts; ++e) {
            if (count[e] == 0 || earlier[e] != filler) continue;
            number[e] = static_cast<int>(expert_of.size());
            expert_of.push_back(static_cast<int>(e));
            problem.replicas.push_back(count[e]);
            if (!loads.empty()) problem.loads.push_back(loads[e]);
            problem.fillers += filler ? 1 : 0;
        }
    }
    for (std::size_t n = first; n < mro.size(); ++n) {
        auto& node = problem.mro.emplace_back();
        for (int e : mro[n]) node.push_back(number[static_cast<std::size_t>(e)]);
    }
    const GuardedPlacement tail = repair(problem, /*above_spread=*/false, options);
    if (tail.source == GuardedSource::mro) return {std::move(mro), false, GuardedSource::mro};
    for (std::size_t n = first; n < mro.size(); ++n) {
        mro[n].clear();
        for (int e : tail.placement[n - first])
            mro[n].push_back(expert_of[static_cast<std::size_t>(e)]);
        std::sort(mro[n].begin(), mro[n].end());
    }
    return {std::move(mro), false, tail.source};
}

}  // namespace

GuardedPlacement guarded_placement(const Replicas& replicas, int nodes, int slots,
                                   std::span<const Tokens> loads, const GuardedOptions& options) {
    Placement mro = place(PlacementPolicy::mro, replicas, nodes, slots, loads);
    if (!mro_truncated(replicas, nodes, slots)) return {std::move(mro), true, GuardedSource::mro};
    if (nodes <= most_masked_nodes) {
        return repair({.replicas = replicas,
                       .loads = {loads.begin(), loads.end()},
                       .nodes = nodes,
                       .slots = slots,
                       .fillers = 0,
                       .mro = std::move(mro)},
                      /*above_spread=*/true, options);
    }
    const auto first = tail_of(mro_group_nodes(replicas, nodes, slots), nodes);
    if (!first) return {std::move(mro), false, GuardedSource::mro};
    return repair_tail(std::move(mro), *first, replicas.size(), slots, loads, options);
}

}  // namespace assay::lazarus
