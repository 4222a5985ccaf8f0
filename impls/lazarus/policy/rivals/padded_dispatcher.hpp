// The padded exchange within fixed groups (expert_parallel.hpp) without a table of pairs.
#pragma once

#include <utility>

#include "impls/lazarus/policy/dispatch/dispatcher.hpp"
#include "impls/lazarus/policy/rivals/expert_parallel.hpp"

namespace assay::lazarus {

class PaddedDispatcher final : public Dispatcher {
  public:
    explicit PaddedDispatcher(ExpertGroups groups);

    int experts() const override { return groups_.experts(); }
    int ranks() const override { return groups_.ranks(); }

    /// Exact, inside nodes and racks too.
    ExchangeTotals totals(std::span<const Tokens> tokens, const RankSites&) const override;
    void layout(std::span<const Tokens> tokens, int rank, RankLayout&) const override;
    void table(std::span<const Tokens> tokens, DispatchPlan& plan) const override {
        plan_padded_dispatch(tokens, groups_, plan);
    }

  private:
    ExpertGroups groups_;
    std::vector<int> held_;  ///< [rank] experts, each once
};

}  // namespace assay::lazarus
