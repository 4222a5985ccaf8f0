// How fast a training is that nothing disturbs, in closed form: steps priced one by one under the
// plans that the controller would make, no events, no faults. What the paper's own rates imply for
// the cost model is computed from it (anchors.hpp).
#pragma once

#include <vector>

#include "impls/lazarus/simulated/training.hpp"
#include "suite/scenario/cost_model.hpp"

namespace assay::lazarus {

/// What the steps of an undisturbed training add up to.
struct SteadyCost {
    double sequences = 0;   ///< trained; the paper's samples
    double serial_s = 0;    ///< of the steps, nothing overlapping
    double hideable_s = 0;  ///< of sums, behind computing, at most: StepTimeline's min(…)

    /// Sequences per second at an overlap of 0 to 1. Exact: a step's time is linear in it.
    double rate(double overlap) const { return sequences / (serial_s - overlap * hideable_s); }
    /// The overlap at which the rate is `wanted`; outside 0 to 1 where none is.
    double overlap_for(double wanted) const { return (serial_s - sequences / wanted) / hideable_s; }
};

/// What a step of it does: who holds what, and the tokens of each expert on each rank.
struct SteadyStep {
    ModelPlacement holders;                   ///< [layer][rank]
    std::vector<std::vector<Tokens>> tokens;  ///< [layer][experts][ranks]
};

/// The first `steps` real steps of `training` without faults. Plans are made from uniform loads at
/// first and anew every `rebalance_every` steps from the loads since. Throws UserError as the parts
/// do.
std::vector<SteadyStep> steady_steps(const ModelledTraining& training, Step steps);

/// Their cost on `costs`, which stands in for the cluster that the modelling names. Neither
/// checkpoints nor rebalances are in it: effective computation, as the paper says.
SteadyCost steady_cost(const CostModel& costs, const Modelling& modelling,
                       const std::vector<SteadyStep>& steps);

}  // namespace assay::lazarus
