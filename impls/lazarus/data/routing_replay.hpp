// Gate decisions replayed from a routing trace, as the paper's experiments do it (section 6.1): the
// tokens of a layer go to experts in the shares that the trace has for it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "impls/lazarus/policy/types.hpp"

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

    /// The same, counted: tokens of each expert on each of `ranks` ranks with `rows` rows each,
    /// [experts][ranks], row-major, as dispatch plans take them. Above 4,096 rows, of which nobody
    /// asks for choices: each rank's are drawn together (systematic sampling), every expert within
    /// one row of its share, in O(experts · ranks).
    std::vector<Tokens> counts(int layer, int ranks, std::int64_t rows) const;

  private:
    std::uint64_t key_;
    std::vector<Loads> cumulative_;  // [layer][expert]: tokens of the experts up to this one
};

/// Which routing a model replays.
struct RoutingSource {
    /// Or "lognormal:SKEW" (both of synthetic_routing.hpp), or the file of a routing trace.
    std::string trace = "synthetic";
    std::uint64_t seed = 1;
    std::int64_t modelled_steps = 1;  ///< one training step stands for so many iterations
    int layers = 1, experts = 1;      ///< of the model
};

class RoutingReplay {
  public:
    /// A file is read once and shared by all replays of it that live at the same time. Its layers
    /// are the model's; the model's experts take the loads of the most loaded ones. Throws
    /// UserError when the file cannot be read, or has fewer layers or experts than the model, or no
    /// tokens in a layer.
    explicit RoutingReplay(const RoutingSource& source);

    /// Iteration step · modelled_steps + 1, or the nearest before it that the trace has; before its
    /// beginning, the first.
    std::int64_t iteration_at(std::int64_t step) const;

    /// Steps that replay the same iteration have equal choices, those that the first step would
    /// have to which it belongs.
    StepRouting at(std::int64_t step) const;

  private:
    std::vector<Loads> loads(std::int64_t iteration) const;

    std::shared_ptr<const RoutingTrace> trace_;  // null: synthetic, or …
    std::optional<double> skew_;                 // … lognormal
    std::uint64_t seed_;
    std::int64_t modelled_steps_;
    int layers_, experts_;
};

}  // namespace assay::lazarus
