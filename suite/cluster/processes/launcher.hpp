// Where workers live: one interface for starting, signalling and outliving them, and the launcher
// for this machine. Other hosts come as further launchers (Slurm, Open MPI).
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "suite/cluster/processes/control_channel.hpp"

namespace assay::cluster {

using WorkerId = int;  ///< 0-based, never reused within a supervisor

/// What a worker process runs. Its return value is the exit status. Must not return with threads
/// still using `control`.
using WorkerMain = std::function<int(WorkerId, ControlChannel&, const nlohmann::json& config)>;

/// Starts workers on one kind of place and tells when they are gone.
class Launcher {
  public:
    virtual ~Launcher() = default;
    struct Launched {
        int channel_fd = -1;  ///< stream socket to the worker; the caller owns it
        /// Becomes readable when the worker is gone (a pidfd, or a remote proxy); the caller owns
        /// it.
        int death_fd = -1;
        long pid = -1;     ///< on its host
        std::string host;  ///< "localhost"
    };
    /// Throws std::runtime_error when it cannot.
    virtual Launched launch(WorkerId, const nlohmann::json& config) = 0;
    /// SIGKILL, SIGSTOP, SIGCONT, SIGTERM … wherever the worker lives. To a dead worker: ignored.
    virtual void signal(const Launched&, int signal_number) = 0;
    /// How it ended, once death_fd is readable: "exit 0", "signal 9". Empty: not known yet.
    virtual std::string exit_status(const Launched&) = 0;
    /// Becomes readable when an exit status may have become known; -1: ask again later.
    virtual int wake_fd() const { return -1; }
};

/// libtorch records collectives for later inspection and changes a map of the whole process as it
/// does, without a lock (2.11): groups that are used by several threads of a process crash in it
/// now and then. Nobody here looks at the records, so they are switched off, unless the environment
/// says something about them. This changes the environment: call it before any thread exists.
/// Processes that are started later inherit it; make_fork_server() calls it.
void switch_off_flight_recorder();

/// Fork server on this machine. Construct it before any thread exists (else it throws
/// std::logic_error) and before libtorch is used (loaded is fine). It is a process of its own,
/// which kills its children and exits when the lifeline closes, that is when the constructing
/// process dies in whatever way. Workers inherit no descriptors but the standard streams (standard
/// input is /dev/null), ignore SIGINT and SIGPIPE, and die with the fork server. A worker whose
/// main function throws exits with status 70; what it threw becomes part of WorkerDied::how.
std::unique_ptr<Launcher> make_fork_server(WorkerMain worker_main);

}  // namespace assay::cluster
