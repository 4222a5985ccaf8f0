// One training worker: obeys the controller's actions until it is dismissed.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "suite/cluster/processes/supervisor.hpp"

namespace assay::hetermoe {

/// Runs in a process of its own (cluster::WorkerMain). `config`: {"training", "port",
/// "checkpoints"} and what the driver adds.
int worker_main(cluster::WorkerId self, cluster::ControlChannel& control,
                const nlohmann::json& config);

}  // namespace assay::hetermoe
