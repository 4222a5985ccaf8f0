// Local search for a placement that loses experts less often, from a given one.
#include <algorithm>
#include <cstddef>
#include <random>
#include <utility>
#include <vector>

#include "impls/lazarus/policy/beyond/guarded_placement.hpp"

namespace assay::lazarus {
namespace {

// A placement whose holder sets follow each swap.
class SwappablePlacement {
  public:
    SwappablePlacement(Placement placement, std::size_t experts, std::size_t fillers)
        : placement_(std::move(placement)),
          experts_(experts),
          needed_(experts - fillers),
          copies_(placement_.size() * experts, 0),
          masks_(experts, 0) {
        for (std::size_t node = 0; node < placement_.size(); ++node) {
            for (int e : placement_[node]) add(static_cast<std::size_t>(e), node, 1);
        }
    }

    struct Slot {
        std::size_t node, index;
    };

    // False when the swap changed no holder set.
    bool swap(Slot a, Slot b) {
        int& x = placement_[a.node][a.index];
        int& y = placement_[b.node][b.index];
        const auto ex = static_cast<std::size_t>(x), ey = static_cast<std::size_t>(y);
        const NodeMask before_x = masks_[ex], before_y = masks_[ey];
        add(ex, a.node, -1);
        add(ey, b.node, -1);
        add(ex, b.node, 1);
        add(ey, a.node, 1);
        std::swap(x, y);
        return masks_[ex] != before_x || masks_[ey] != before_y;
    }

    int expert(Slot slot) const { return placement_[slot.node][slot.index]; }
    const Placement& placement() const { return placement_; }

    std::vector<NodeMask> minimal() const {
        std::vector<NodeMask> held;
        for (std::size_t e = 0; e < needed_; ++e) {
            if (masks_[e] != 0) held.push_back(masks_[e]);
        }
        return minimal_masks(std::move(held));
    }

  private:
    void add(std::size_t expert, std::size_t node, int change) {
        int& copies = copies_[node * experts_ + expert];
        copies += change;
        const NodeMask bit = NodeMask{1} << node;
        masks_[expert] = copies > 0 ? masks_[expert] | bit : masks_[expert] & ~bit;
    }

    Placement placement_;
    std::size_t experts_, needed_;
    std::vector<int> copies_;  // [node][expert]
    std::vector<NodeMask> masks_;
};

// The walk follows a weighted sum instead of the order of results: the way to a better plan leads
// through worse ones.
std::int64_t height(const PlanQuality& quality) {
    return 4 * (quality.below_least + quality.below_wanted) + quality.lost;
}

}  // namespace

Placement search_placement(const Placement& start, int experts, const SearchGoal& goal,
                           const SearchOptions& options) {
    const auto nodes = start.size(), slots = start.front().size();
    const int count = static_cast<int>(nodes);
    SwappablePlacement state(start, static_cast<std::size_t>(experts),
                             static_cast<std::size_t>(options.fillers));

    double work = 0;
    auto evaluate = [&]() -> std::optional<PlanQuality> {
        const std::vector<NodeMask> minimal = state.minimal();
        work += 100 + static_cast<double>(minimal.size()) * experts / 4;
        const auto survivors = exact_survivors(minimal, count);
        if (!survivors) return std::nullopt;
        work += counting_work(minimal.size(), count);
        return judge(*survivors, goal);
    };
    const auto first = evaluate();
    if (!first) return start;
    PlanQuality current = *first, best = current;
    Placement best_placement = start;

    std::mt19937_64 random(options.seed);
    auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random() % bound); };
    // A tenth of a certain loss at one k, at first.
    constexpr double first_threshold = 0x1p32 / 10;
    while (nodes > 1 && work < options.work) {
        work += 8;
        const SwappablePlacement::Slot a{below(nodes), below(slots)}, b{below(nodes), below(slots)};
        if (a.node == b.node || state.expert(a) == state.expert(b)) continue;
        if (!state.swap(a, b)) continue;
        const auto next = evaluate();
        const double left = std::max(0.0, 1 - work / options.work);
        const auto threshold = static_cast<std::int64_t>(first_threshold * left * left);
        if (!next || height(*next) > height(current) + threshold) {
            state.swap(a, b);
            continue;
        }
        current = *next;
        if (current.better_than(best)) {
            best = current;
            best_placement = state.placement();
        }
    }
    return best_placement;
}

}  // namespace assay::lazarus
