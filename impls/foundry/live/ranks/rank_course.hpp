// A group of ranks over real workers: each a new process with a driver of its own, in real time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "impls/foundry/live/engine.hpp"
#include "impls/foundry/method/loader/rank_group.hpp"
#include "suite/experiment/recorder.hpp"
#include "suite/scenario/fault_plan.hpp"

namespace assay::foundry {

struct RankCourse {
    EngineSettings engine;  ///< but for its place, which is each worker's own
    RankGroupSettings group;
    std::filesystem::path sockets;  ///< a folder where the groups meet
    FaultPlan faults = {};
    double progress_s = 20;  ///< without progress, after which a worker hangs
};

struct RankOutcome {
    bool ok = false;
    std::string why;
    std::vector<std::optional<std::uint64_t>> results;  ///< of each request
    std::vector<GroupCourse> groups;
    std::vector<std::string> troubles;
    int restarts = 0;
    long faults_struck = 0;
};

/// Throws NotSupportedHere where the worker's program is not beside this one.
RankOutcome run_ranks(const RankCourse& course, Recorder& recorder);

/// Saves the graphs of a rank, in this process and without the others. Why it could not; empty: it
/// did.
std::string save_rank(EngineSettings engine, int rank, int ranks,
                      const std::filesystem::path& archive);

}  // namespace assay::foundry
