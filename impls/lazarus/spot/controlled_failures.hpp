// Controlled failures (paper sections 6.2 and 6.6): one node at a time at fixed intervals, until
// half of them are left. Who fails is drawn once, for all systems alike.
#pragma once

#include <cstdint>

#include "impls/lazarus/simulated/training.hpp"
#include "suite/scenario/cost_model.hpp"
#include "suite/scenario/fault_plan.hpp"

namespace assay::lazarus {

struct ControlledFailures {
    int nodes = 10;        ///< at the start
    int left = 5;          ///< at the end
    double every_s = 300;  ///< the first after so long, the end so long after the last

    int count() const { return nodes - left; }
    double duration_s() const { return (count() + 1) * every_s; }
};

/// Kills keyed by time, each of one of the nodes that are left, all alike; a function of failures
/// and seed.
FaultPlan random_victims(const ControlledFailures& failures, std::uint64_t seed);

/// The same, but nodes that `rival` left idle come first (Fig. 14): who is idle is found by
/// simulating it up to each failure. Its own faults and duration are not looked at.
FaultPlan idle_first_victims(const ControlledFailures& failures, ModelledTraining rival,
                             const CostModel& costs, std::uint64_t seed);

}  // namespace assay::lazarus
