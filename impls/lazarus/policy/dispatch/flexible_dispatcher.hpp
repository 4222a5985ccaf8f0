// The flexible dispatcher (paper section 4.2, Algorithm 1) without a table of pairs: totals of all
// ranks, and the exact part of one.
#pragma once

#include <vector>

#include "impls/lazarus/policy/dispatch/dispatcher.hpp"

namespace assay::lazarus {

class FlexibleDispatcher final : public Dispatcher {
  public:
    /// Throws UserError where a rank holds an expert that there is not.
    FlexibleDispatcher(const Placement& holders, int experts);

    int experts() const override { return static_cast<int>(holders_.size()); }
    int ranks() const override { return ranks_; }

    /// Before rounding, what source i sends to rank j is overflow(i) · free(j) / free of all
    /// (Algorithm 1); so the part that stays in i's node is overflow(i) · free of the node / free
    /// of all.
    ExchangeTotals totals(std::span<const Tokens> tokens, const RankSites&) const override;

    /// What a source sends depends on the capacity that those before it have left, rounding
    /// included. So of a rank that receives, all sources must be gone through: per expert O(ranks ·
    /// its holders), in all O(ranks · slots of all ranks), against O(experts · ranks²) of the
    /// table. Of a rank that sends, those before it; of one that keeps what it has, none.
    void layout(std::span<const Tokens> tokens, int rank, RankLayout&) const override;

    void table(std::span<const Tokens> tokens, DispatchPlan&) const override;

  private:
    struct Holders {
        std::vector<int> rank;      ///< ascending
        std::vector<int> replicas;  ///< on it
        Tokens sum = 0;
    };
    int ranks_;
    std::vector<Holders> holders_;  ///< [expert]
};

}  // namespace assay::lazarus
