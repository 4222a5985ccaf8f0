// Gate decisions replayed from a routing trace, as the paper's experiments do it (section 6.1): the
// tokens of a layer go to experts in the shares that the trace has for it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "impls/lazarus/training/trainer.hpp"

namespace assay::lazarus {

class RoutingTrace;

/// The choices of one training step.
class StepRouting {
  public:
    /// loads[layer][expert], at least one token per layer.
    StepRouting(std::uint64_t seed, std::int64_t step, const std::vector<Loads>& loads);

    /// Experts of `rows` rows of a layer, the first being row `first_row` of the global batch. A
    /// function of (seed, step, layer, global row): how many ranks share the batch changes nothing.
    std::vector<std::int64_t> choices(int layer, std::int64_t first_row, std::int64_t rows) const;

  private:
    std::uint64_t key_;
    std::vector<Loads> cumulative_;  // [layer][expert]: tokens of the experts up to this one
};

class RoutingReplay {
  public:
    /// `config.routing` names the trace; a file is read once and shared by all replays of it that
    /// live at the same time. Its layers are the model's; the model's experts take the loads of the
    /// most loaded ones. Throws UserError when the file cannot be read, or has fewer layers or
    /// experts than the model, or no tokens in a layer.
    explicit RoutingReplay(const TrainingConfig& config);

    /// Iteration step · modelled_steps + 1, or the nearest before it that the trace has; before its
    /// beginning, the first.
    StepRouting at(std::int64_t step) const;

  private:
    std::vector<Loads> loads(std::int64_t step) const;

    std::shared_ptr<const RoutingTrace> trace_;  // null: synthetic
    std::uint64_t seed_;
    std::int64_t modelled_steps_;
    int layers_, experts_;
};

}  // namespace assay::lazarus
