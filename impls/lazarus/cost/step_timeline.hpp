// When each operation of a training step would be done on the modelled cluster. Every rank knows
// the placement and the global token counts, so every rank computes the same timeline: nobody has
// to ask the others how long they take.
#pragma once

#include <span>
#include <vector>

#include "impls/lazarus/cost/modelled_model.hpp"
#include "impls/lazarus/policy/types.hpp"
#include "suite/scenario/cost_model.hpp"

namespace assay::lazarus {

/// Who takes part in a step, and how fast they are.
struct StepParticipants {
    std::vector<int> devices;       ///< [rank] worker id: its device in the cluster
    std::vector<double> slowdowns;  ///< [rank] ≥ 1: faults of kind slow
    ModelPlacement holders;         ///< [layer][rank]
};

/// Tokens that a layer moves and computes, for one rank count.
struct LayerTraffic {
    std::vector<double> rows;   ///< [rank] rows its experts compute, padding included
    std::vector<double> bytes;  ///< [from][to] rows on their way, padding included
};

/// `tokens`: [experts][ranks]. The room that the trainer's own dispatch plan gives every (source,
/// expert) slice: policy/dispatch.hpp where `group` is 0, policy/rivals/expert_parallel.hpp (fixed
/// expert parallelism in groups of `group` ranks) elsewhere. Throws UserError as those do.
LayerTraffic layer_traffic(std::span<const Tokens> tokens, const Placement& holders, int experts,
                           int group);

/// Offsets in scenario seconds from the start of a (real) step, which stands for
/// `modelled_steps` modelled ones.
///
/// Per layer: attention and gate on each rank; an all-gather of the counts and the exchange once
/// the slowest has arrived; the experts on each rank; the way back. Backward: twice the computing,
/// the same exchanges. Then the sums of gradients (dense over everyone, each expert over its
/// holders) and the optimizer. Nothing overlaps: the paper does not say that anything does.
class StepTimeline {
  public:
    StepTimeline(const CostModel& costs, const Modelling& modelling, StepParticipants participants);

    /// The tokens of `layer` are known; to be called for layers 0, 1, … in order.
    void counted(int layer, std::span<const Tokens> tokens);

    double attention_done(int layer, int rank) const;  ///< needs the layers before it
    double dispatched(int layer) const;
    double computed(int layer, int rank) const;
    double combined(int layer) const;
    // The rest needs every layer counted.
    double forward_done() const;
    double backward_done() const;
    double total() const;  ///< sums and optimizer included

  private:
    struct Layer {
        double start = 0, exchanged = 0, back = 0;
        std::vector<double> attention, experts;  ///< [rank] seconds
    };
    double attention_s(int rank) const;
    double slowest(const std::vector<double>& seconds) const;
    double reduction_s() const;
    double optimizer_s(int rank) const;
    double head_s(int rank) const;

    const CostModel& costs_;
    Modelling modelling_;
    StepParticipants participants_;
    int ranks_;
    double scale_;           ///< modelled layers per real layer × modelled steps per real one
    double rows_per_token_;  ///< modelled tokens per real one
    std::vector<Layer> layers_;
    double exchanges_ = 0, compute_ = 0;  ///< of the forward pass, layers counted so far
};

}  // namespace assay::lazarus
