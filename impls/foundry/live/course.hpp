// A loader over real workers: each a new process with a driver of its own, in real time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "impls/foundry/live/engine.hpp"
#include "impls/foundry/method/loader/loader.hpp"
#include "suite/experiment/recorder.hpp"
#include "suite/scenario/fault_plan.hpp"

namespace assay::foundry {

struct LiveCourse {
    EngineSettings engine;
    LoaderSettings loader;
    bool saves = false;  ///< a saver makes the archive first
    /// Beside ours, for the workers: ASSAY_FAKE_DRIVER, say.
    std::vector<std::pair<std::string, std::string>> environment = {};
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

/// Throws NotSupportedHere where the worker's program is not beside this one.
LiveOutcome run_live(const LiveCourse& course, Recorder& recorder);

/// The fake driver that is built with this program, or installed with it.
std::filesystem::path fake_driver();

}  // namespace assay::foundry
