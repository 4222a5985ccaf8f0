// What the launchers of this machine share. On the supervisor's side: what a worker is given, how
// it is signalled and how its end reads. On the worker's: its life between channel and exit status.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "suite/base/file_descriptor.hpp"
#include "suite/base/process.hpp"
#include "suite/cluster/processes/launcher.hpp"

namespace assay::cluster {

/// A worker's channel and what it shall know, as descriptors to be handed to its process.
struct WorkerSupplies {
    FileDescriptor ours;    ///< the supervisor's end of the channel
    FileDescriptor theirs;  ///< the worker's
    FileDescriptor config;  ///< a file in memory that holds JSON text
};
/// Throws std::system_error, for one where too many files are open.
WorkerSupplies make_supplies(const nlohmann::json& config);
nlohmann::json read_config(const FileDescriptor& config);

/// By pidfd: never hits a stranger that got the number of a worker already reaped.
void signal_by_pidfd(const FileDescriptor& pidfd, int signal_number);

/// "exit 3", "signal 9".
std::string how_it_ended(const ExitStatus& status);

/// The environment variable that switches libtorch's flight recorder off; none where our
/// environment, or what is `added` to it, says something about it.
using EnvironmentVariable = std::pair<std::string, std::string>;
std::optional<EnvironmentVariable> flight_recorder_off(
    const std::vector<EnvironmentVariable>& added = {});

constexpr int kWorkerFailed = 70;  ///< exit status of a worker whose main function threw

/// In the worker's process, where all signals are held back until now: runs `body`, tells the
/// supervisor what it throws, and returns the exit status.
int run_worker(WorkerId worker, FileDescriptor channel,
               const std::function<int(ControlChannel&)>& body) noexcept;

}  // namespace assay::cluster
