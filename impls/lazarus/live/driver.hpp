// One training under faults, across processes: supervisor, workers, controller and fault plan put
// together, in real time or paced.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "impls/lazarus/cost/recovery_cost.hpp"
#include "impls/lazarus/course.hpp"
#include "impls/lazarus/policy/controller/controller.hpp"
#include "impls/lazarus/training/oracle.hpp"
#include "impls/lazarus/training/trainer.hpp"
#include "suite/cluster/processes/supervisor.hpp"
#include "suite/drive/policy.hpp"
#include "suite/drive/processes/timekeeper.hpp"
#include "suite/drive/recovery_log.hpp"
#include "suite/experiment/recorder.hpp"
#include "suite/scenario/fault_plan.hpp"

namespace assay::lazarus {

/// The cluster that a paced training is held to.
struct PacingOptions {
    Modelling modelling;
    double relaunch_s = -1;  ///< replaces the cluster profile's; -1: does not
};

struct SessionOptions {
    ControllerConfig controller;
    TrainingConfig training;
    FaultPlan faults;
    cluster::SupervisorOptions supervisor;
    double operation_timeout_s = 10;    ///< real seconds of one collective
    std::filesystem::path checkpoints;  ///< folder
    double duration_s = 0;  ///< scenario seconds after which it ends; 0: when its steps are done
    double speed = 1;       ///< scenario seconds per second, where it is not paced
    /// Makes the run a paced one.
    std::optional<PacingOptions> pacing;
};

/// One new plan put into force.
struct ReconfigurationRecord {
    bool after_death = false;
    bool restart = false;      ///< from a checkpoint
    long transfers = 0;        ///< expert states moved
    double real_s = 0;         ///< from the plan to everybody being ready, transfers included
    ReconfigurationCost cost;  ///< paced runs: what it costs the modelled cluster
};

/// How long training was disturbed by one fault.
struct Disturbance {
    FaultKind kind = FaultKind::kill;
    double injected_s = 0;
    double first_step_s = 0;  ///< end of the first step committed afterwards
};

struct SessionResult : TrainingCourse {
    /// What the controller was told and what it did about it, from the first join on.
    std::vector<drive::Decision<Controller>> decisions;
    StateDigests digests;  ///< of the workers that trained the last step
    std::vector<Disturbance> disturbances;
    drive::PacingSummary pacing;                          ///< paced runs
    std::vector<ReconfigurationRecord> reconfigurations;  ///< completed ones, the start left out
    std::vector<double> detections_real_s;                ///< from a kill to the supervisor knowing
    std::vector<drive::RecoveryTimes> recoveries;
    long faults_fired = 0;
    long joins = 0;  ///< workers that registered after the initial ones
};

/// The launcher must have been made (make_fork_server(worker_main)) before libtorch was used in
/// this process. Events go to `recorder` as they happen: fault, death, detection, regroup,
/// transfer, join, leave, checkpoint, restart (from a checkpoint), retry, evict. Times are scenario
/// seconds since the first step began. Throws SampleError(interrupted) on SIGINT, SIGTERM or a lost
/// lifeline.
SessionResult run_training(std::unique_ptr<cluster::Launcher> launcher,
                           const SessionOptions& options, Recorder& recorder);

}  // namespace assay::lazarus
