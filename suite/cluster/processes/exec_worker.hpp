// The side of exec'ed workers: what make_exec_launcher() (launcher.hpp) hands to a program, and
// what the program's main does with it.
#pragma once

#include <map>
#include <string>

#include "suite/cluster/processes/launcher.hpp"

namespace assay::cluster {

/// File descriptors of a worker's program beside its standard ones (0 is /dev/null, 1 and 2 are
/// those of the supervisor's process). It has no others when it starts.
inline constexpr int kExecChannelFd = 3;   ///< stream socket: the control channel
inline constexpr int kExecConfigFd = 4;    ///< file: {"worker": id, "name": …, "config": …}
inline constexpr int kExecLifelineFd = 5;  ///< pipe: its end means that the launcher is gone

/// The workers that a program contains, by name.
using WorkerProgram = std::map<std::string, WorkerMain>;

/// To be called by the main function of a worker's program, before it makes threads. Runs the
/// worker that the launcher named and returns its exit status, kWorkerFailed (70) where it throws
/// or where there is none of that name. Until then signals are held back; SIGTERM becomes a request
/// to stop. The process, and the group that it leads, is killed when the launcher is gone; SIGRTMAX
/// is used for that. Throws UserError where the program was started otherwise, with none of the
/// descriptors above.
int run_exec_worker(const WorkerProgram& program);
/// The same, for a program with one worker, whatever its name.
int run_exec_worker(const WorkerMain& worker_main);

}  // namespace assay::cluster
