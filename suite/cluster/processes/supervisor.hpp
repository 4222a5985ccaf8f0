// The supervisor: starts workers, watches them live and die, carries messages, injects faults. One
// thread, one poll loop; no clocks of its own beyond std::chrono::steady_clock. Messages are JSON
// objects of any size (NaN and infinities arrive as null).
//
// Where a worker lives and how it is started is the launcher's business: here forked or exec'ed on
// this machine; other hosts later (Slurm, Open MPI).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "suite/cluster/faults/slowing.hpp"
#include "suite/cluster/processes/control_channel.hpp"
#include "suite/cluster/processes/launcher.hpp"

namespace assay::cluster {

// ---- what the supervisor reports -------------------------------------------------------------
struct WorkerMessage {
    WorkerId worker;
    nlohmann::json body;
};
struct WorkerDied {
    WorkerId worker;
    /// "signal 9", "exit 3", "exit 70: why", "heartbeat lost after 0.50 s"; of one that could not
    /// be started, why.
    std::string how;
    double detected_s;  ///< seconds since the supervisor's start
};
struct TimerFired {
    std::uint64_t id;
};
/// The lifeline closed or SIGINT/SIGTERM arrived: shut down now.
struct Interrupted {
    std::string why;
};
using SupervisorEvent = std::variant<WorkerMessage, WorkerDied, TimerFired, Interrupted>;

struct SupervisorOptions {
    Seconds heartbeat_interval{0.02};
    Seconds heartbeat_timeout{0.5};  ///< silence longer than this counts as death; then SIGKILL
    /// How long a worker may take to be started, and then to its first heartbeat
    /// (ControlChannel::start).
    Seconds start_timeout{60};
    int lifeline_fd = -1;     ///< EOF on it means the owner is gone; -1: none
    int compute_threads = 1;  ///< of one worker: how many processors it would use when alone
};

/// While one lives, SIGINT and SIGTERM of its process become Interrupted events. Used by one thread
/// at a time; several may live in one process, and one after the other. It waits for, signals and
/// ends its own workers, no other children of the process. Heartbeats are judged inside next():
/// call it often. Time in which it is not called (or in which this process got no processor) counts
/// against no worker.
class Supervisor {
  public:
    Supervisor(std::unique_ptr<Launcher> launcher, SupervisorOptions options);
    ~Supervisor();  ///< kills and reaps every worker

    /// Another way to start workers; returns its index for spawn(). The first is 0.
    std::size_t add_launcher(std::unique_ptr<Launcher> launcher);

    /// Asks for a worker and returns at once; it starts while next() is called. One that cannot be
    /// started is a WorkerDied. Throws std::out_of_range where there is no such launcher.
    WorkerId spawn(const nlohmann::json& config, std::size_t launcher = 0);
    /// To a dead worker: ignored. Never blocks: what the worker does not take, or is sent before it
    /// has started, is kept for it.
    void send(WorkerId, const nlohmann::json& body);
    void send(const std::vector<WorkerId>&, const nlohmann::json& body);
    /// Not known to be dead: false from the moment its WorkerDied is in the queue of events.
    bool alive(WorkerId) const;
    std::vector<WorkerId> alive() const;
    /// On its host; also of a dead worker. -1 as long as it has not started.
    long pid(WorkerId) const;

    std::uint64_t start_timer(Seconds after);
    void cancel_timer(std::uint64_t id);

    /// Waits for the next event, at most `timeout`. All that a worker sent before its death comes
    /// before its WorkerDied, which comes once per worker, when its process is gone.
    std::optional<SupervisorEvent> next(Seconds timeout);

    // ---- injectors: each call acts once on a live worker and is counted -------------------------
    // Calls that change nothing (the worker is dead, or already killed, stopped or hanging) do not
    // count. What is asked of a worker that has not started yet is done, and counted, when it has.
    // A hang shorter than heartbeat_timeout is survived.
    void kill(WorkerId);  ///< SIGKILL; death is reported as any other
    void hang(WorkerId, std::optional<Seconds> duration);  ///< SIGSTOP, SIGCONT after `duration`
    void stop(
        WorkerId);  ///< SIGTERM: the worker sees stop_requested() and {"type":"stop_requested"}
    /// The worker gets `share` of the time that it would use if it had the machine for itself:
    /// by a quota of the kernel where control groups can be written, else by SIGSTOP and SIGCONT in
    /// a duty cycle of some milliseconds, short against heartbeats; with `by`, so and not
    /// otherwise. Returns which, nothing where nobody was slowed. After `duration`, or share 1, all
    /// of its time again. A later call replaces it. The time we hold it is no silence of its own. A
    /// hang interrupts it; asked for during a hang, it begins afterwards. For a worker that has not
    /// started yet the call waits, because the means depend on its process. Shares under 0.01 and
    /// negative durations throw std::invalid_argument, a quota that cannot be had
    /// std::runtime_error. A call with share 1 is not counted. Driven inside next().
    std::optional<SlowMeans> slow(WorkerId, double share, std::optional<Seconds> duration,
                                  std::optional<SlowMeans> by = std::nullopt);
    /// Why slow() has no quota here; empty: it has.
    std::string why_no_quota();
    struct InjectionCounts {
        long kills = 0, hangs = 0, resumes = 0, stops = 0, slows = 0;
    };
    InjectionCounts injected() const;

    double now_s() const;  ///< seconds since construction

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace assay::cluster
