// One training worker: obeys the controller's messages (messages.hpp) until it is dismissed.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "suite/cluster/processes/supervisor.hpp"

namespace assay::lazarus {

/// Runs in a process of its own (cluster::WorkerMain). `config`: {"training", "port",
/// "checkpoints"} and what the driver adds; "modelling" makes it a paced worker.
int worker_main(cluster::WorkerId self, cluster::ControlChannel& control,
                const nlohmann::json& config);

}  // namespace assay::lazarus
