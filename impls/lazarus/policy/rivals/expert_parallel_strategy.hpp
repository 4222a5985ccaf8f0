// Fixed expert parallelism as a strategy: the nodes that train are whole groups, and within a group
// every expert has one holder, whatever the loads (DeepSpeed-MoE, Tutel; expert_parallel.hpp).
#pragma once

#include "impls/lazarus/policy/controller/strategy.hpp"

namespace assay::lazarus {

class ExpertParallelStrategy final : public Strategy {
  public:
    /// Throws std::invalid_argument unless `group` is at least 1 and divides `experts`, and `slots`
    /// has room for a node's share of them.
    explicit ExpertParallelStrategy(const ControllerConfig& config);

    int usable(int nodes) const override;
    std::string too_few(int nodes) const override;
    std::vector<int> surplus(const ModelPlacement& held) const override;
    ModelPlacement holders(const ModelPlacement& held,
                           const std::vector<Loads>& loads) const override;
    /// There is nothing to balance.
    bool rebalances_after(Step) const override { return false; }

  private:
    int experts_, group_;
};

}  // namespace assay::lazarus
