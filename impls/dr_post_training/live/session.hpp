// One guarded training under faults: driver, guard and the worker of the moment put together.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "impls/dr_post_training/live/guarded_training.hpp"
#include "impls/dr_post_training/policy/guard/guard.hpp"
#include "suite/cluster/processes/supervisor.hpp"
#include "suite/drive/policy.hpp"
#include "suite/experiment/recorder.hpp"
#include "suite/scenario/fault_plan.hpp"

namespace assay::dr_post_training {

/// FOLDER/step-N.state
std::filesystem::path checkpoint_file(const std::filesystem::path& folder, Step step);

struct SessionOptions {
    GuardSettings guard;
    GuardedSettings training;
    FaultPlan faults;
    cluster::SupervisorOptions supervisor;
    std::filesystem::path checkpoints;  ///< folder
};

/// A step that counts.
struct StoredStep {
    Step step = 0;
    std::string digest;  ///< of the state that it led to
    double loss = 0;
    std::string selections;
    bool operator==(const StoredStep&) const = default;
};

struct SessionResult {
    bool ok = false;
    std::string why;  ///< it ended
    std::vector<StoredStep> steps;
    std::string digest;  ///< of the state at the end
    Guard::Counts counts;
    std::vector<drive::Decision<Guard>> decisions;
    long faults_fired = 0, deaths = 0;
    std::vector<Step> checkpoints;  ///< that are kept at the end
};

/// The launcher must have been made (make_fork_server(worker_main)) before libtorch was used in
/// this process. Throws SampleError(interrupted) on SIGINT, SIGTERM or a lost lifeline.
SessionResult run_training(std::unique_ptr<cluster::Launcher> launcher,
                           const SessionOptions& options, Recorder& recorder);

/// The same without processes and faults: what it must come to.
SessionResult run_undisturbed(const SessionOptions& options);

}  // namespace assay::dr_post_training
