// When each operation of a training step would be done on the modelled cluster. Every rank knows
// the placement and the global token counts, so every rank computes the same timeline: nobody has
// to ask the others how long they take.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "impls/lazarus/cost/modelled_model.hpp"
#include "impls/lazarus/policy/types.hpp"
#include "suite/scenario/cost_model.hpp"

namespace assay::lazarus {

/// Who takes part in a step, and how fast they are. Of workers with several GPUs each is a rank:
/// see ranks_of_nodes.hpp.
struct StepParticipants {
    std::vector<int> devices;       ///< [rank] its device in the cluster: the worker's id
    std::vector<double> slowdowns;  ///< [rank] ≥ 1: faults of kind slow
    ModelPlacement holders;         ///< [layer][rank]
};

/// Seconds of one real step by what they go to; the slowest rank of each part counts.
struct StepParts {
    double forward_compute_s = 0, backward_compute_s = 0;
    double exchange_s = 0;  ///< of tokens, their counts and activations, both passes
    double sums_s = 0;      ///< of gradients, as if nothing overlapped
    double hidden_s = 0;    ///< of them, behind the backward computing
    double optimizer_s = 0;
    double pipelined_s = 0;  ///< of exchanges, beside the experts' computing; both passes

    double compute_s() const { return forward_compute_s + backward_compute_s + optimizer_s; }
    double communication_s() const { return exchange_s + sums_s; }
    double total() const { return compute_s() + communication_s() - hidden_s - pipelined_s; }
};

/// Offsets in scenario seconds from the start of a (real) step, which stands for
/// `modelled_steps` modelled ones.
///
/// Per layer: attention and gate on each rank; an all-gather of the counts and the exchange once
/// the slowest has arrived; the experts on each rank; the way back. Backward: twice the computing,
/// the same exchanges. Then the sums of gradients (dense over everyone, each expert over its
/// holders) and the optimizer.
///
/// Where a worker has several GPUs, what is no expert is split among them: twice per layer and pass
/// they sum the activations of all their tokens, and each sums its part of the dense gradients with
/// its like on the other nodes (Megatron-LM's tensor parallelism, arXiv 1909.08053). Shared experts
/// and layers without experts are computed like routed ones that every token passes.
///
/// Ranks are where the cluster's network says (seats_of, ranks_of_nodes.hpp). Exchanges are priced
/// by what they add up to on each rank: time and memory of a step are O(layers · experts · ranks),
/// apart from a network that simulates single messages.
///
/// Rules of dispatch (DispatchRule) that do more than send rows and compute them:
///   pipeline: exchange and experts of a layer take turns (pipelined_layer.hpp) in 1, 2, 4, …
///   parts,
///             whichever is quickest for both passes together. Kernels that pack rows cost nothing
///             here, for no system, so that faster ones gain nothing either.
///   spill:    the weights of spilled experts travel after the rows, before anyone computes; on the
///             way back of the backward pass so do their gradients. Helpers keep the weights for
///             the backward pass.
///
/// Overlap. What depends on what leaves one pair that can run at once: a layer's gradients are
/// final when its backward pass is, so they can be summed beside the backward computing of the
/// layers below it, as data-parallel training in buckets does. Nothing else can. The exchange of a
/// layer waits for its gate, the experts for the exchange, the way back for the experts and the
/// next layer for that; parts of a batch that take turns change this, and the paper has none
/// (Tutel's do; computing that exchanges run beside hides no sums).
/// Sums and exchanges share a node's port. The paper does not say whether its sums overlap, so
/// `Modelling::overlap`, the share of what can be hidden that is hidden, is a parameter:
///
///     step = forward + backward + exchanges + sums + optimizer
///            - overlap · min(sums, backward computing)
///
/// 0: the sums begin when the backward pass is over. 1: sums and backward computing together take
/// as long as the longer of the two, an end that no schedule reaches quite, since the gradients of
/// the embeddings come last. What the backward pass hides changes no operation before
/// backward_done(): its computing is no slower for it.
///
/// Where gradients accumulate over several modelled steps, sums and optimizer cost each of them
/// its part, and only the last one's backward pass can hide sums.
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
    double total() const;     ///< sums and optimizer included
    StepParts parts() const;  ///< of total(), up to rounding

  private:
    struct Layer {
        double exchanged = 0, back = 0;
        std::vector<double> experts;  ///< [rank] seconds
    };
    /// Of one layer's rows in one of `parts` parts.
    struct PartPrice {
        double there = 0, back = 0;
        std::vector<double> experts;  ///< [rank]
    };
    PartPrice price_part(const Exchange& rows, std::span<const double> held,
                         std::span<const double> computed, int parts) const;
    /// The layer in as many parts as are quickest, where the rule allows for more than one.
    void pipeline(Layer& layer, double begin, const Exchange& rows, std::span<const double> held,
                  std::span<const double> computed, const PartPrice& whole);
    double weights_s(std::span<const WeightMove> moves, bool back) const;
    double compute_s(int rank, const Operation& operation) const;
    double attention_s(int rank) const;
    double slowest(const std::vector<double>& seconds) const;
    double updates_per_real_step() const;
    double reduction_s() const;
    double optimizer_s(int rank) const;
    double slowest_optimizer_s() const;
    double head_s(int rank) const;
    double slowest_head_s() const;
    double backward_compute_s() const;
    double hidden_s(double sums_s) const;

    double dense_layers_s(int rank) const;
    double activations_s() const;

    const CostModel& costs_;
    Modelling modelling_;
    StepParticipants participants_;
    std::shared_ptr<const Network> network_;  ///< of the ranks
    RankSites sites_;
    std::vector<std::vector<int>> held_;  ///< [layer][rank] different experts
    int ranks_;
    double scale_;              ///< modelled layers per real layer × modelled steps per real one
    double rows_per_row_;       ///< modelled rows per real one
    double activations_s_ = 0;  ///< of a modelled layer, forward
    std::vector<double> attention_;  ///< [rank] of a real layer
    double head_s_ = 0;              ///< of the slowest rank
    std::vector<Layer> layers_;
    // Layers counted so far:
    double exchanges_ = 0, counting_ = 0, compute_ = 0;  ///< forward
    double exchanges_back_ = 0;                          ///< of the backward pass
    double pipelined_ = 0, pipelined_back_ = 0;          ///< of both, beside the experts
};

}  // namespace assay::lazarus
