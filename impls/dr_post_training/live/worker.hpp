// The one worker of a guarded training: obeys the guard's orders until it is dismissed. Its
// `applied` also carries loss and selections of the step.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "suite/cluster/processes/supervisor.hpp"

namespace assay::dr_post_training {

/// Runs in a process of its own (cluster::WorkerMain). `config`: {"training", "checkpoints"} and
/// what the driver adds.
int worker_main(cluster::WorkerId self, cluster::ControlChannel& control,
                const nlohmann::json& config);

}  // namespace assay::dr_post_training
