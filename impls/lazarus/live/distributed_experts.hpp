// The MoE layer across ranks: every token travels to a replica of its expert and back, as the
// dispatch plan says. Un-padded to any replica (Lazarus, paper section 4.2), or padded within fixed
// groups (DeepSpeed-MoE).
#pragma once

#include <map>
#include <vector>

#include "impls/lazarus/live/step_hooks.hpp"
#include "impls/lazarus/policy/padded_dispatch.hpp"
#include "impls/nn/moe_gpt.hpp"
#include "suite/cluster/communicator.hpp"

namespace assay::lazarus {

/// The experts held here: (layer, expert) → parameters.
using HeldExperts = std::map<std::pair<int, int>, const nn::ParameterBlock*>;

class DistributedExperts : public nn::ExpertExecutor {
  public:
    /// holders[layer][rank]: experts with their replicas. `group`: ranks per expert-parallel group,
    /// or 0 for the flexible dispatcher. Throws UserError when `holders` do not form such groups.
    DistributedExperts(cluster::Communicator& comm, int experts, int group,
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
    void plan(int layer, const std::vector<Tokens>& tokens);
    at::Tensor compute_local(int layer, const at::Tensor& received) const;
    void done(StepHooks::Phase phase, int layer) const;

    cluster::Communicator& comm_;
    int experts_;
    const HeldExperts& held_;
    std::vector<std::vector<int>> replicas_;  ///< [layer]: R, [experts][ranks]; or else …
    std::vector<ExpertGroups> groups_;        ///< … [layer]
    const StepHooks& hooks_;
    bool poisoned_ = false;
    std::vector<Loads> loads_;
    DispatchPlan plan_;
    RankLayout layout_;
};

}  // namespace assay::lazarus
