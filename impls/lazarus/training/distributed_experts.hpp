// The MoE layer across ranks: every token travels to a replica of its expert and back, as the
// dispatch plan says. Un-padded to any replica (Lazarus, paper section 4.2), or padded within fixed
// groups (DeepSpeed-MoE).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "impls/lazarus/policy/dispatch/dispatcher.hpp"
#include "impls/lazarus/training/step_hooks.hpp"
#include "impls/nn/moe/gpt.hpp"
#include "suite/cluster/collectives/communicator.hpp"

namespace assay::lazarus {

/// The experts held here: (layer, expert) → parameters.
using HeldExperts = std::map<std::pair<int, int>, const nn::ParameterBlock*>;

class DistributedExperts : public nn::ExpertExecutor {
  public:
    /// holders[layer][rank]: experts with their replicas. Throws UserError when they do not suit
    /// the rule.
    DistributedExperts(cluster::Communicator& comm, int experts, const DispatchRule& rule,
                       const ModelPlacement& holders, const HeldExperts& held,
                       const StepHooks& hooks);

    /// One activation among the rows of the next layer run becomes NaN.
    void poison_next_rows() { poisoned_ = true; }

    at::Tensor run(int layer, const at::Tensor& rows,
                   const std::vector<std::int64_t>& expert) override;

    /// Global tokens per expert of each layer run so far; equal on every rank.
    const std::vector<Loads>& loads() const { return loads_; }

  private:
    std::vector<Tokens> gather_counts(const std::vector<std::int64_t>& expert);
    at::Tensor compute_local(int layer, const at::Tensor& received) const;
    void done(StepHooks::Phase phase, int layer) const;

    cluster::Communicator& comm_;
    int experts_;
    const HeldExperts& held_;
    std::vector<std::unique_ptr<Dispatcher>> dispatchers_;  ///< [layer]
    const StepHooks& hooks_;
    bool poisoned_ = false;
    std::vector<Loads> loads_;
    RankLayout layout_;
};

/// A few numbers of every rank to every rank: what Communicator::all_gather() does, as an exchange
/// in which everyone sends to everyone at once. Gloo's all-gather passes the parts around a ring,
/// one wait per rank: for a few numbers among ten processes on two cores that takes two to three
/// times as long (measured). Collective.
template <class T>
std::vector<T> one_hop_gather(cluster::Communicator& comm, const std::vector<T>& mine,
                              cluster::Dtype dtype) {
    const auto ranks = static_cast<std::size_t>(comm.size());
    const std::vector<std::int64_t> counts(ranks, static_cast<std::int64_t>(mine.size()));
    std::vector<T> copies, all(ranks * mine.size());
    for (std::size_t rank = 0; rank < ranks; ++rank)
        copies.insert(copies.end(), mine.begin(), mine.end());
    comm.all_to_all_v(copies.data(), counts, all.data(), counts, dtype);
    return all;
}

}  // namespace assay::lazarus
