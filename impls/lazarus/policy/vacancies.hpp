// Where leftover replicas go once a placement's groups have their nodes (paper section 4.1 says
// "uniformly"; the order is ours).
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "impls/lazarus/policy/types.hpp"

namespace assay::lazarus {

/// The nodes with free slots of a placement that is being filled up.
class Vacancies {
  public:
    Vacancies(Placement& placement, int slots)
        : placement_(placement), slots_(static_cast<std::size_t>(slots)) {
        for (std::size_t n = 0; n < placement.size(); ++n) {
            if (placement[n].size() < slots_) free_.push_back(n);
        }
    }

    /// Puts `count` replicas of `expert` into free slots: nodes without it first, then the
    /// emptiest, then the lowest. Precondition: there are as many free slots.
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

}  // namespace assay::lazarus
