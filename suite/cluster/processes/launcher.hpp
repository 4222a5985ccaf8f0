// Where workers live: one interface for starting, signalling and outliving them, and the launchers
// for this machine, by fork and by exec. Other hosts come as further launchers (Slurm, Open MPI).
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "suite/base/file_descriptor.hpp"
#include "suite/cluster/processes/control_channel.hpp"

namespace assay::cluster {

using WorkerId = int;  ///< 0-based, never reused within a supervisor

/// What a worker process runs. Its return value is the exit status. Must not return with threads
/// still using `control`.
using WorkerMain = std::function<int(WorkerId, ControlChannel&, const nlohmann::json& config)>;

/// Starts workers on one kind of place and tells when they are gone. Belongs to one supervisor,
/// whose thread calls it; no call waits for a worker to start or to end. Its own end does: it kills
/// and reaps every worker that is left, and no other process.
class Launcher {
  public:
    virtual ~Launcher() = default;

    struct Launched {
        FileDescriptor channel{};  ///< stream socket to the worker
        FileDescriptor death{};    ///< becomes readable when it is gone (a pidfd, a remote proxy)
        long pid = -1;             ///< on its host
        std::string host{};        ///< "localhost"
    };
    /// Asks for a worker; starts() tells later what became of it. Throws where it cannot even be
    /// asked for.
    virtual void launch(WorkerId, const nlohmann::json& config) = 0;

    struct Start {
        WorkerId worker = -1;
        Launched launched{};
        std::string why_not{};  ///< why there is no such worker; empty: there is one
    };
    /// What has become of launches, each told once.
    virtual std::vector<Start> starts() = 0;

    /// SIGKILL, SIGSTOP, SIGCONT, SIGTERM … wherever the worker lives. To a dead worker: ignored.
    virtual void signal(const Launched&, int signal_number) = 0;
    /// How it ended, once its `death` is readable: "exit 0", "signal 9". Empty: not known yet.
    virtual std::string exit_status(WorkerId) = 0;
    /// Becomes readable when there may be something new in starts() or exit_status(); -1: ask again
    /// later.
    virtual int wake_fd() const { return -1; }
};

/// libtorch records collectives for later inspection and changes a map of the whole process as it
/// does, without a lock (2.11): groups that are used by several threads of a process crash in it
/// now and then. Nobody here looks at the records, so they are switched off, unless the environment
/// says something about them. Both launchers do this for their workers, not for the process that
/// they are used in: one that has such groups itself calls this, before any thread exists, because
/// it changes the environment.
void switch_off_flight_recorder();

/// Fork server on this machine. Construct it before any thread exists (else it throws
/// std::logic_error) and before libtorch is used (loaded is fine); several may live in one process.
/// It is a process of its own, which kills its children and exits when the lifeline closes, that is
/// when the constructing process dies in whatever way. Workers inherit no descriptors but the
/// standard streams (standard input is /dev/null), ignore SIGINT and SIGPIPE, and die with the fork
/// server. A worker whose main function throws exits with status 70; what it threw becomes part of
/// WorkerDied::how.
std::unique_ptr<Launcher> make_fork_server(WorkerMain worker_main);

/// A program whose main calls run_exec_worker() (exec_worker.hpp).
struct ExecProgram {
    std::string program = "/proc/self/exe";  ///< looked for in PATH where it holds no '/'
    std::vector<std::string> arguments{};    ///< after the program's name
    /// Set in the program's environment in addition to ours.
    std::vector<std::pair<std::string, std::string>> environment{};
    std::string worker{};  ///< which of the program's workers, by name
};

/// Starts every worker as a new program on this machine. This process may have threads, and
/// libtorch and CUDA may be in use. The workers are told apart from its other children: only they
/// are waited for or signalled, each as leader of a process group of its own, which is killed with
/// it. They die when the launcher goes or this process dies in whatever way. What they inherit, and
/// WorkerDied::how, are as with the fork server. They are children of this process: where that
/// waits for just any child, or ignores SIGCHLD, how they end stays unknown. Starts a thread with
/// its first worker, so a fork server for the same process is made before that.
std::unique_ptr<Launcher> make_exec_launcher(ExecProgram program);

}  // namespace assay::cluster
