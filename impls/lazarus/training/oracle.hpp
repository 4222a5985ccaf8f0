// The fault-free reference of a training with faults: replays the recorded membership and placement
// of every committed step with nobody killed. Workers are threads of this process.
#pragma once

#include <span>

#include "impls/lazarus/policy/controller/controller.hpp"
#include "impls/lazarus/training/planned_training.hpp"

namespace assay::lazarus {

/// `lineage`: Controller::lineage(), steps 0, 1, 2 … The state moves as planned departures and
/// arrivals would move it: a worker that needs a block copies it from any holder of the step
/// before.
StateDigests replay_lineage(const TrainingConfig& config, std::span<const CommittedStep> lineage);

/// True when every worker in `live` holds exactly what it holds in `oracle`, and together they hold
/// every block. (A worker may have died after the last step; what it held is held by others too.)
bool agrees(const StateDigests& live, const StateDigests& oracle);

/// Throws SampleError(failed) unless `equal`: a result obtained with a wrong state is none.
void require_equal(bool equal);

}  // namespace assay::lazarus
