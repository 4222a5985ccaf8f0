// What it costs the modelled cluster to notice a failure, to regroup, to move or load state, and to
// write a checkpoint.
#pragma once

#include "impls/lazarus/cost/modelled_model.hpp"
#include "impls/lazarus/policy/controller/protocol.hpp"
#include "suite/scenario/cost_model.hpp"

namespace assay::lazarus {

/// Scenario seconds of one reconfiguration, part by part.
struct ReconfigurationCost {
    double detect_s = 0;    ///< until the survivors know of a death
    double regroup_s = 0;   ///< new communicators (peers), or the job launched anew (restart)
    double transfer_s = 0;  ///< expert and dense states between nodes, or from the checkpoint
    double total() const { return detect_s + regroup_s + transfer_s; }
};

/// `after_death`: detection is part of it. A plan with restore_step is a restart: every node loads
/// what it is to hold from the shared store. `relaunch_s` replaces the cluster profile's value
/// where it is not negative (papers do not publish it; an experiment may sweep it).
ReconfigurationCost reconfiguration_cost(const CostModel& costs, const Modelling& modelling,
                                         const Reconfigure& plan, bool after_death,
                                         double relaunch_s = -1);

/// One copy of the whole state to the shared store; training stands still meanwhile.
double checkpoint_cost(const CostModel& costs, const Modelling& modelling);

}  // namespace assay::lazarus
