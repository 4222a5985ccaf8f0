// The load monitor: tokens per layer and expert of the committed steps since the last rebalance
// (window: the last rebalance interval; the paper does not give one). Steps that never committed,
// or were undone, are not in it.
#pragma once

#include <string>
#include <vector>

#include "impls/lazarus/policy/controller/protocol.hpp"

namespace assay::lazarus {

class RoutingHistory {
  public:
    RoutingHistory(int layers, int experts);

    /// Says what is wrong with the loads a worker reported; empty: nothing.
    std::string fault_in(const std::vector<Loads>& loads) const;
    void add(const std::vector<Loads>& loads);  ///< one committed step; fault_in() must be empty

    /// Loads to plan with now: the window's sum, else those of the plan before, else equal ones
    /// (all zero).
    const std::vector<Loads>& loads_for_plan();
    /// Those that the newest plan was made from; all zero: equal ones.
    const std::vector<Loads>& loads_of_plan() const { return last_used_; }
    /// Rebalance: the plan that follows is made from the window, which begins anew.
    void use_window();
    void clear();  ///< forget everything: the next plan assumes equal loads

    int steps_in_window() const { return steps_; }
    const std::vector<Loads>& window() const { return window_; }

  private:
    std::vector<Loads> blank_;
    std::vector<Loads> window_;
    std::vector<Loads> last_used_;
    int steps_ = 0;
};

}  // namespace assay::lazarus
