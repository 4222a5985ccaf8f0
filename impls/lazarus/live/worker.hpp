// One training worker: obeys the controller's messages (messages.hpp) until it is dismissed.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "suite/cluster/processes/supervisor.hpp"

namespace assay::lazarus {

/// A place where a worker waits until its fault has been injected, so that faults keyed by a step
/// strike at exactly that point. phase: "start" (of the step), "step" (tokens of the first MoE
/// layer have arrived), "regroup" (before the new group is built), "transfer" (group built, state
/// not yet moved).
struct FaultPoint {
    std::string phase;
    long step = 0;  ///< "start", "step": equal; the others: the first reconfiguration resuming at
                    ///< or after it
};

/// Runs in a process of its own (cluster::WorkerMain). `config`: {"training", "port", "timeout_s",
/// "heartbeat_s", "checkpoints", "points"}; "modelling" makes it a paced worker.
int worker_main(cluster::WorkerId self, cluster::ControlChannel& control,
                const nlohmann::json& config);

}  // namespace assay::lazarus
