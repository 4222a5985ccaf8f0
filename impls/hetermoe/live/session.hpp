// One training under faults, across processes: driver, workers and controller put together.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "impls/hetermoe/policy/controller/controller.hpp"
#include "impls/hetermoe/policy/controller/pace.hpp"
#include "impls/hetermoe/training/replay.hpp"
#include "suite/cluster/processes/supervisor.hpp"
#include "suite/drive/policy.hpp"
#include "suite/drive/recovery_log.hpp"
#include "suite/experiment/recorder.hpp"
#include "suite/scenario/fault_plan.hpp"

namespace assay::hetermoe {

struct SessionOptions {
    ControllerSettings controller;
    TrainingSettings training;
    /// Where given, the controller hears how long tasks take and which kind is slow.
    std::optional<PaceSettings> pace;
    FaultPlan faults;
    cluster::SupervisorOptions supervisor;
    double operation_timeout_s = 10;    ///< of one collective
    std::filesystem::path checkpoints;  ///< folder
};

struct TrainedStep {
    Step step = 0;
    double begin_s = 0, end_s = 0;  ///< since the first step began
    double loss = 0;                ///< mean nats per token
};

struct SessionResult {
    bool ok = false;
    std::string why;       ///< it ended
    bool gave_up = false;  ///< a kind of workers ran out, and nobody would join
    std::vector<CommittedStep> lineage;
    std::vector<TrainedStep> steps;  ///< in the order of their commits, those undone later too
    Controller::Counts counts;
    StateDigests digests;  ///< of the workers that trained the last step
    /// What the controller was told and what it did about it.
    std::vector<drive::Decision<Controller>> decisions;
    std::vector<drive::RecoveryTimes> recoveries;
    long faults_fired = 0;
};

/// The launcher must have been made (make_fork_server(worker_main)) before libtorch was used in
/// this process. Events go to `recorder` as they happen. Throws SampleError(interrupted) on SIGINT,
/// SIGTERM or a lost lifeline.
SessionResult run_training(std::unique_ptr<cluster::Launcher> launcher,
                           const SessionOptions& options, Recorder& recorder);

}  // namespace assay::hetermoe
