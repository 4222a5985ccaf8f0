// The supervisor: starts workers, watches them live and die, carries messages, injects faults. One
// thread, one poll loop; no clocks of its own beyond std::chrono::steady_clock.
//
// Where a worker lives is the launcher's business: here a fork server on this machine; other hosts
// later (Slurm, Open MPI).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace assay::cluster {

using Seconds = std::chrono::duration<double>;
using WorkerId = int;  ///< 0-based, never reused within a supervisor

/// Worker side of the control channel. Thread-safe. A background thread (started by the first call
/// of start()) receives messages and sends heartbeats.
class ControlChannel;

/// What a worker process runs. Its return value is the exit status. Must not return with threads
/// still using `control`.
using WorkerMain = std::function<int(WorkerId, ControlChannel&, const nlohmann::json& config)>;

/// Starts workers on one kind of place and tells when they are gone.
class Launcher {
  public:
    virtual ~Launcher() = default;
    struct Launched {
        int channel_fd = -1;  ///< stream socket to the worker; the caller owns it
        int death_fd = -1;    ///< becomes readable when the worker is gone (a pidfd, or a remote proxy)
        long pid = -1;        ///< on its host
        std::string host;     ///< "localhost"
    };
    virtual Launched launch(WorkerId, const nlohmann::json& config) = 0;
    /// SIGKILL, SIGSTOP, SIGCONT, SIGTERM … wherever the worker lives.
    virtual void signal(const Launched&, int signal_number) = 0;
    /// How it ended, once death_fd is readable: "exit 0", "signal 9". Empty: not known yet.
    virtual std::string exit_status(const Launched&) = 0;
};

/// Fork server on this machine. Construct it before any thread exists and before libtorch is used
/// (loaded is fine). It is a process of its own, which kills its children and exits when the lifeline
/// closes, that is when the constructing process dies in whatever way.
std::unique_ptr<Launcher> make_fork_server(WorkerMain worker_main);

// ---- what the supervisor reports -----------------------------------------------------------------
struct WorkerMessage {
    WorkerId worker;
    nlohmann::json body;
};
struct WorkerDied {
    WorkerId worker;
    std::string how;      ///< "signal 9", "exit 3", "heartbeat lost after 0.50 s"
    double detected_s;    ///< seconds since the supervisor's start
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
    int lifeline_fd = -1;            ///< EOF on it means the owner is gone; -1: none
};

class Supervisor {
  public:
    Supervisor(std::unique_ptr<Launcher> launcher, SupervisorOptions options);
    ~Supervisor();  ///< kills and reaps every worker

    WorkerId spawn(const nlohmann::json& config);
    void send(WorkerId, const nlohmann::json& body);  ///< to a dead worker: ignored
    void send(const std::vector<WorkerId>&, const nlohmann::json& body);
    bool alive(WorkerId) const;
    std::vector<WorkerId> alive() const;

    std::uint64_t start_timer(Seconds after);
    void cancel_timer(std::uint64_t id);

    /// Waits for the next event, at most `timeout`.
    std::optional<SupervisorEvent> next(Seconds timeout);

    // ---- injectors: each call acts once on a live worker and is counted -------------------------
    void kill(WorkerId);                          ///< SIGKILL; death is reported as any other
    void hang(WorkerId, std::optional<Seconds> duration);  ///< SIGSTOP, SIGCONT after `duration`
    void stop(WorkerId);                          ///< SIGTERM: the worker sees stop_requested()
    struct InjectionCounts {
        long kills = 0, hangs = 0, resumes = 0, stops = 0;
    };
    InjectionCounts injected() const;

    double now_s() const;  ///< seconds since construction

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

class ControlChannel {
  public:
    explicit ControlChannel(int fd);
    ~ControlChannel();
    ControlChannel(const ControlChannel&) = delete;

    /// Starts the listener thread: heartbeats every `interval`; calls `on_urgent` on that thread for
    /// each message whose body has "urgent": true *before* queueing it (to abort a communicator).
    void start(Seconds interval, std::function<void(const nlohmann::json&)> on_urgent = {});
    void send(const nlohmann::json& body);
    /// Next message in order; blocks. nullopt: the supervisor is gone.
    std::optional<nlohmann::json> receive();
    std::optional<nlohmann::json> try_receive(Seconds timeout);
    bool stop_requested() const;  ///< SIGTERM arrived

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace assay::cluster
