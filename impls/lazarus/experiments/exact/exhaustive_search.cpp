#include "impls/lazarus/experiments/exact/exhaustive_search.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <functional>
#include <utility>

#include "impls/lazarus/policy/plan/mro.hpp"

namespace assay::lazarus {
namespace {

using Mask = unsigned;  // nodes

std::vector<long> surviving(const std::vector<Mask>& holders, int nodes) {
    std::vector<long> counts(static_cast<std::size_t>(nodes) + 1, 0);
    for (Mask failed = 0; failed < (Mask{1} << nodes); ++failed) {
        const bool kills = std::any_of(holders.begin(), holders.end(),
                                       [&](Mask on) { return (on & ~failed) == 0; });
        if (!kills) ++counts[static_cast<std::size_t>(std::popcount(failed))];
    }
    return counts;
}

// Fills node after node; a node's list of experts is not below the previous node's, which tries
// every multiset of nodes once.
class Search {
  public:
    // Called with the surviving failure sets of each placement; false ends the search.
    using Visitor = std::function<bool(const std::vector<long>&)>;

    Search(const Replicas& replicas, int nodes, int slots, Visitor visit)
        : left_(replicas),
          nodes_(nodes),
          slots_(static_cast<std::size_t>(slots)),
          holders_(replicas.size(), 0),
          visit_(std::move(visit)) {}

    void run() { next_node(0, {}); }

  private:
    void next_node(int node, const std::vector<int>& previous) {
        if (node == nodes_) {
            ended_ = !visit_(surviving(holders_, nodes_));
            return;
        }
        std::vector<int> content;
        next_slot(node, previous, content, 0);
    }

    void next_slot(int node, const std::vector<int>& previous, std::vector<int>& content,
                   int from) {
        if (content.size() == slots_) {
            if (content >= previous) next_node(node + 1, content);
            return;
        }
        for (int e = from; !ended_ && e < static_cast<int>(left_.size()); ++e) {
            int& left = left_[static_cast<std::size_t>(e)];
            if (left == 0) continue;
            Mask& holders = holders_[static_cast<std::size_t>(e)];
            const Mask before = holders;
            --left;
            holders |= Mask{1} << node;
            content.push_back(e);
            next_slot(node, previous, content, e);
            content.pop_back();
            holders = before;
            ++left;
        }
    }

    Replicas left_;
    int nodes_;
    std::size_t slots_;
    std::vector<Mask> holders_;
    Visitor visit_;
    bool ended_ = false;
};

void extend(Replicas& prefix, int experts_left, int slots_left, std::vector<Replicas>& out) {
    if (experts_left == 0) {
        if (slots_left == 0) out.push_back(prefix);
        return;
    }
    for (int r = prefix.empty() ? 1 : prefix.back(); r * experts_left <= slots_left; ++r) {
        prefix.push_back(r);
        extend(prefix, experts_left - 1, slots_left - r, out);
        prefix.pop_back();
    }
}

}  // namespace

std::vector<long> surviving_failure_sets(const Placement& placement, int experts) {
    std::vector<Mask> holders(static_cast<std::size_t>(experts), 0);
    for (std::size_t node = 0; node < placement.size(); ++node) {
        for (int e : placement[node]) holders[static_cast<std::size_t>(e)] |= Mask{1} << node;
    }
    return surviving(holders, static_cast<int>(placement.size()));
}

std::vector<long> best_surviving_failure_sets(const Replicas& replicas, int nodes, int slots) {
    std::vector<long> best(static_cast<std::size_t>(nodes) + 1, 0);
    Search(replicas, nodes, slots, [&](const std::vector<long>& counts) {
        for (std::size_t k = 0; k < counts.size(); ++k) best[k] = std::max(best[k], counts[k]);
        return true;
    }).run();
    return best;
}

bool nowhere_below(const std::vector<long>& a, const std::vector<long>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), std::greater_equal<>());
}

bool some_placement_reaches(const std::vector<long>& wanted, const Replicas& replicas, int nodes,
                            int slots) {
    bool found = false;
    Search(replicas, nodes, slots, [&](const std::vector<long>& counts) {
        found = nowhere_below(counts, wanted);
        return !found;
    }).run();
    return found;
}

std::vector<Replicas> all_replica_counts(int experts, int slots_total) {
    std::vector<Replicas> out;
    Replicas prefix;
    extend(prefix, experts, slots_total, out);
    return out;
}

std::vector<PlacementProblem> small_instances() {
    std::vector<PlacementProblem> problems;
    for (int nodes = 2; nodes <= 6; ++nodes) {
        for (int slots = 1; slots <= 3 && nodes * slots <= 12; ++slots) {
            for (int experts = 2; experts <= std::min(6, nodes * slots); ++experts) {
                for (Replicas& replicas : all_replica_counts(experts, nodes * slots))
                    problems.push_back({nodes, slots, std::move(replicas)});
            }
        }
    }
    return problems;
}

std::size_t class_of(const PlacementProblem& problem) {
    if (problem.replicas.size() <= static_cast<std::size_t>(problem.slots)) return 0;
    return mro_truncated(problem.replicas, problem.nodes, problem.slots) ? 2 : 1;
}

}  // namespace assay::lazarus
