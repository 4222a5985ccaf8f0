// How the tokens of a layer find their experts: one interface, one kind per system. What a kind
// does is asked for in three ways: what it adds up to on each rank (which prices a step), what one
// rank sends and receives (which a worker exchanges by), and the whole table (which both must agree
// with; for few ranks only).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "impls/lazarus/policy/dispatch/rank_layout.hpp"
#include "impls/lazarus/policy/types.hpp"
#include "suite/base/describe.hpp"
#include "suite/scenario/network/traffic.hpp"

namespace assay::lazarus {

/// When rows are spilled, and where to: see rivals/spill.hpp. The defaults of the paper's code.
struct SpillLimits {
    double capacity = 1.1;   ///< rows that a rank may get, of the mean (the paper's alpha)
    Tokens fewest = 1024;    ///< rows of one expert worth sending its weights for (m)
    double imbalance = 1.3;  ///< fullest rank over the mean from which on anything is spilled
                             ///< (lambda)
    bool operator==(const SpillLimits&) const = default;
};

/// What a system does, whatever the placement.
struct DispatchRule {
    enum class Kind {
        flexible,  ///< Lazarus: un-padded, to any replica (dispatch_plan.hpp)
        padded,    ///< DeepSpeed-MoE: padded, within fixed groups (rivals/expert_parallel.hpp)
        spill      ///< LLEP: un-padded, within fixed groups; the overloaded get help with rows, and
                   ///< helpers the weights (rivals/spill.hpp)
    };
    Kind kind = Kind::flexible;
    int group = 0;  ///< padded, spill: ranks per expert-parallel group
    /// Parts, at most, into which a layer's exchange is cut so that some travel while the experts
    /// compute others (Tutel, arXiv 2206.03382, section 3.3). The rows, and who gets them, are the
    /// same; what a step costs is not: PipelinedLayer (cost/).
    int pipeline = 1;
    SpillLimits limits = {};  ///< spill

    static DispatchRule padded_in(int group) { return {.kind = Kind::padded, .group = group}; }
    bool operator==(const DispatchRule&) const = default;
};
ASSAY_NAMES(DispatchRule::Kind, flexible, padded, spill)

/// An expert's weights on their way to a rank that helps with its rows.
struct WeightMove {
    int from = 0, to = 0;
};

/// What an exchange adds up to, in rows, padding included.
struct ExchangeTotals {
    std::vector<double> computed;          ///< [rank] rows that its experts compute
    std::vector<RankTraffic> traffic;      ///< [rank] rows on their way there; on the way back the
                                           ///< two sides are swapped
    std::vector<WeightMove> weights = {};  ///< of spilled experts, before they compute
};

/// One layer's placement under one rule. `tokens` is T, [experts][ranks] row-major: tokens at each
/// rank routed to each expert. All throw UserError where its shape is wrong, a count is negative,
/// or an expert that has tokens has no replica.
class Dispatcher {
  public:
    virtual ~Dispatcher() = default;

    virtual int experts() const = 0;
    virtual int ranks() const = 0;

    /// O(experts · ranks), memory O(ranks). Computed, and sent and received in all, are those of
    /// table() exactly. How much of it stays inside a node or rack is what the rule says before
    /// rounding, which moves less than a row per expert and pair of ranks.
    virtual ExchangeTotals totals(std::span<const Tokens> tokens, const RankSites&) const = 0;

    /// The part of one rank, equal to rank_layout(table(tokens), rank). Memory O(experts · ranks).
    virtual void layout(std::span<const Tokens> tokens, int rank, RankLayout&) const = 0;

    /// Of all ranks. Time and memory O(experts · ranks²).
    virtual void table(std::span<const Tokens> tokens, DispatchPlan&) const = 0;
};

/// holders: of one layer, entry i is rank i. Throws UserError where they do not suit the rule.
std::unique_ptr<Dispatcher> make_dispatcher(const DispatchRule&, const Placement& holders,
                                            int experts);

// What every kind checks alike.

void check_tokens(std::span<const Tokens> tokens, int experts, int ranks);
/// Throws UserError above 2^62.
Tokens total_tokens(std::span<const Tokens> tokens, int expert);

}  // namespace assay::lazarus
