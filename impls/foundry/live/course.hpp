// A loader over real workers: each a new process with a driver of its own, in real time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "impls/foundry/live/engine.hpp"
#include "impls/foundry/method/loader/loader.hpp"
#include "suite/drive/processes/process_driver.hpp"
#include "suite/experiment/recorder.hpp"
#include "suite/scenario/fault_plan.hpp"

namespace assay::foundry {

struct LiveCourse {
    EngineSettings engine;
    LoaderSettings loader;
    bool saves = false;  ///< a saver makes the archive first
    /// Of fake drivers, in turn: EngineSettings::device of the n-th server; the first is also the
    /// savers'. None: as engine.device says.
    std::vector<std::string> devices = {};
    FaultPlan faults = {};
    double progress_s = 20;  ///< without progress, after which a worker hangs
};

struct LiveOutcome {
    bool ok = false;
    std::string why;
    double seconds = 0;  ///< until the last request was served, since the workers were there
    std::vector<std::optional<std::uint64_t>> results;  ///< of each request
    std::vector<std::string> troubles;
    std::map<Make, long> makes;
    int restarts = 0;
    long faults_struck = 0;
};

/// What savers that were killed have left beside the archives is removed at the end. Throws
/// NotSupportedHere where the worker's program is not beside this one, and for a gpu_error on
/// another driver than the fake one.
LiveOutcome run_live(const LiveCourse& course, Recorder& recorder);

/// The fake driver that is built with this program, or installed with it.
std::filesystem::path fake_driver();
/// assay-foundry-worker, beside this program. Throws NotSupportedHere where it is not.
std::filesystem::path worker_program();
/// Drives processes of that program; `library` is the CUDA driver that they open. Throws as
/// run_live().
drive::ProcessDriver worker_processes(std::vector<drive::Role> roles, const FaultPlan& faults,
                                      const std::string& library, Recorder& recorder);

}  // namespace assay::foundry
