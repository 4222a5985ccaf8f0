// One live training under faults: supervisor, workers, controller and fault plan put together.
#pragma once

#include <filesystem>

#include "impls/lazarus/live/oracle.hpp"
#include "impls/lazarus/live/recovery_log.hpp"
#include "impls/lazarus/live/trainer.hpp"
#include "impls/lazarus/policy/controller.hpp"
#include "suite/cluster/supervisor.hpp"
#include "suite/experiment/recorder.hpp"
#include "suite/scenario/fault_plan.hpp"

namespace assay::lazarus {

struct SessionOptions {
    ControllerConfig controller;
    TrainingConfig training;
    FaultPlan faults;
    cluster::SupervisorOptions supervisor;
    double operation_timeout_s = 10;    ///< of one collective; death is noticed long before
    std::filesystem::path checkpoints;  ///< folder
};

struct SessionResult {
    bool ok = false;
    std::string why;  ///< how it ended
    Controller::Counts counts;
    std::vector<CommittedStep> lineage;
    StateDigests digests;          ///< of the workers that trained the last step
    std::vector<double> losses;    ///< mean nats per token of each committed step of the lineage
    std::vector<double> commit_s;  ///< when it was committed
    std::vector<Recovery> recoveries;
    long faults_fired = 0;
    long joins = 0;         ///< workers that registered after the initial ones
    double first_go_s = 0;  ///< when training began
};

/// The launcher must have been made (make_fork_server(worker_main)) before libtorch was used in
/// this process. Events go to `recorder` as they happen: fault, death, detection, regroup,
/// transfer, join, leave, checkpoint, restart (from a checkpoint). Throws SampleError(interrupted)
/// on SIGINT, SIGTERM or a lost lifeline.
SessionResult run_training(std::unique_ptr<cluster::Launcher> launcher,
                           const SessionOptions& options, Recorder& recorder);

}  // namespace assay::lazarus
