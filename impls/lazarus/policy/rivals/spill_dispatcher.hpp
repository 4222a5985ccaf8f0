// The exchange of least-loaded spill (spill.hpp) within fixed groups: un-padded, and expert weights
// travel besides rows.
#pragma once

#include <vector>

#include "impls/lazarus/policy/dispatch/dispatcher.hpp"
#include "impls/lazarus/policy/rivals/expert_parallel.hpp"
#include "impls/lazarus/policy/rivals/spill.hpp"

namespace assay::lazarus {

/// An expert's rows, in the order of the ranks that send them, fill its parts one after the other:
/// who sends what to whom follows from the counts alone.
class SpillDispatcher final : public Dispatcher {
  public:
    SpillDispatcher(ExpertGroups groups, const SpillLimits& limits);

    int experts() const override { return groups_.experts(); }
    int ranks() const override { return groups_.ranks(); }

    /// Exact, inside nodes and racks too. O(experts · ranks) but for sorting.
    ExchangeTotals totals(std::span<const Tokens> tokens, const RankSites&) const override;
    void layout(std::span<const Tokens> tokens, int rank, RankLayout&) const override;
    void table(std::span<const Tokens> tokens, DispatchPlan&) const override;

  private:
    /// Calls visit(expert, from, to, rows) for whoever sends rows to whom, oneself included, and
    /// moves(expert, holder, helper) for every expert that somebody helps with.
    template <class Visit, class Moves>
    void for_each(std::span<const Tokens> tokens, Visit visit, Moves moves) const;

    ExpertGroups groups_;
    SpillLimits limits_;
};

}  // namespace assay::lazarus
