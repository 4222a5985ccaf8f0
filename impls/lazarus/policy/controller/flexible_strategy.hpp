// Strategies by which any number of nodes train as long as they can hold every expert: each layer
// gets a plan made of its loads, and physical nodes take the plan nodes that cost the fewest
// transfers (paper sections 4.1 and 4.3).
#pragma once

#include "impls/lazarus/policy/controller/strategy.hpp"

namespace assay::lazarus {

class FlexibleStrategy : public Strategy {
  public:
    int usable(int nodes) const final;
    std::string too_few(int nodes) const final;
    std::vector<int> surplus(const ModelPlacement&) const final { return {}; }
    ModelPlacement holders(const ModelPlacement& held, const std::vector<Loads>& loads) const final;
    /// Every `rebalance_every` steps.
    bool rebalances_after(Step committed) const final;

  protected:
    explicit FlexibleStrategy(const ControllerConfig& config) : Strategy(config), config_(config) {}
    const ControllerConfig& config() const { return config_; }

  private:
    /// [layer][plan node]
    virtual ModelPlacement plan(const std::vector<Loads>& loads, int nodes) const = 0;
    /// By physical node. Each layer on its own, as the paper plans them.
    virtual ModelPlacement mapped(const ModelPlacement& held, ModelPlacement plan) const;

    ControllerConfig config_;
};

/// Lazarus: Eq. 1 and the placement of the settings.
class LazarusStrategy : public FlexibleStrategy {
  public:
    explicit LazarusStrategy(const ControllerConfig& config) : FlexibleStrategy(config) {}

  private:
    ModelPlacement plan(const std::vector<Loads>& loads, int nodes) const final;
};

/// Ours: Lazarus with one mapping of plan nodes for all layers. Maximum rank overlap puts the cold
/// groups of all layers on the same plan nodes; layers that are mapped one by one drift apart over
/// successive plans, until a loss that spares one layer's groups strikes another's.
class JointStrategy final : public LazarusStrategy {
  public:
    using LazarusStrategy::LazarusStrategy;

  private:
    ModelPlacement mapped(const ModelPlacement& held, ModelPlacement plan) const override;
};

}  // namespace assay::lazarus
