// One node lost at fixed intervals until half are left, the same victims for all systems: what
// fig6, fig7, fig12 and fig14 define by a few numbers each.
#pragma once

#include <string>
#include <vector>

#include "impls/lazarus/spot/controlled_failures.hpp"
#include "suite/experiment/experiment.hpp"

namespace assay::lazarus {

struct ControlledTraining {
    std::string id, title, source;
    std::string says;                  ///< what the figure adds to what all of them do
    std::vector<std::string> systems;  ///< that run unless others are named
    ControlledFailures failures;
    std::string cluster;
    int checkpoint_times = 1;  ///< the rivals' intervals of section 6.1, times this
    int accumulation = 1;      ///< steps whose gradients are summed at once
    std::string idle_first;    ///< a system: nodes that it left idle fail first; empty: any node
};

/// Simulated. Curves: throughput_kept (as fig9's; its sum is samples_total), throughput, workers,
/// samples (trained so far).
Experiment controlled_experiment(ControlledTraining training);

}  // namespace assay::lazarus
