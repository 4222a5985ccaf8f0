// A small live training for tests: real processes, real signals.
#pragma once

#include <filesystem>
#include <string>

#include "impls/lazarus/live/driver.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::lazarus {

struct LiveRun {
    SessionResult result;
    MemoryRecorder recorder;
};

/// 5 workers, 2 layers of 4 experts, 3 slots, 8 steps, f = 2; `faults` in flag grammar, ';'
/// between.
SessionOptions small_session(const std::string& faults);

/// Runs it, with checkpoints in a folder of its own that is removed afterwards. Expects that the
/// controller kept to every rule of the protocol (watch/).
LiveRun run_live(SessionOptions options);

/// Processes whose parent is this process, zombies included.
long children_alive();

}  // namespace assay::lazarus
