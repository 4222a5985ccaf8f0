// The Lazarus MoE layer: every token travels to a replica of its expert and back, un-padded, as the
// dispatch plan says (paper section 4.2).
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "impls/lazarus/policy/dispatch.hpp"
#include "impls/nn/moe_gpt.hpp"
#include "suite/cluster/communicator.hpp"

namespace assay::lazarus {

/// The experts held here: (layer, expert) → parameters.
using HeldExperts = std::map<std::pair<int, int>, const nn::ParameterBlock*>;

class DistributedExperts : public nn::ExpertExecutor {
  public:
    /// holders[layer][rank]: experts with their replicas. `after_dispatch(layer)` is called when
    /// the tokens of a layer have arrived: the middle of a step, where faults may strike.
    DistributedExperts(cluster::Communicator& comm, int experts, const ModelPlacement& holders,
                       const HeldExperts& held, std::function<void(int layer)> after_dispatch = {});

    at::Tensor run(int layer, const at::Tensor& rows,
                   const std::vector<std::int64_t>& expert) override;

    /// Global tokens per expert of each layer run so far; equal on every rank.
    const std::vector<Loads>& loads() const { return loads_; }

  private:
    std::vector<Tokens> gather_counts(const std::vector<std::int64_t>& expert);
    at::Tensor compute_local(int layer, const at::Tensor& received, const RankLayout& layout) const;

    cluster::Communicator& comm_;
    int experts_;
    const HeldExperts& held_;
    std::vector<std::vector<int>> replicas_;  ///< [layer]: R, [experts][ranks]
    std::function<void(int)> after_dispatch_;
    std::vector<Loads> loads_;
    DispatchPlan plan_;
    RankLayout layout_;
};

}  // namespace assay::lazarus
