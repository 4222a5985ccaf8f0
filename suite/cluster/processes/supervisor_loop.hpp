// What a supervisor knows of its workers, and its poll loop.
#pragma once

#include <signal.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "suite/cluster/faults/slowing.hpp"
#include "suite/cluster/processes/control_channel.hpp"
#include "suite/cluster/processes/heartbeat_monitor.hpp"
#include "suite/cluster/processes/signal_watch.hpp"
#include "suite/cluster/processes/supervisor.hpp"

namespace assay::cluster {

struct SupervisedWorker {
    enum class State { starting, live, ending, dead };
    Launcher* launcher = nullptr;
    State state = State::starting;
    std::string unsent;                               ///< frames for it, while it is starting
    std::vector<std::function<void()>> when_started;  ///< what was asked of it, in that order
    Launcher::Launched launched;                      ///< but for the channel
    WorkerConnection connection;
    bool killed = false, hanging = false, asked_to_stop = false;
    double detected_s = 0;
    std::string verdict;  ///< why we killed it, when nobody asked for that
    std::string failure;  ///< what it said before it ended in error
};

struct Supervisor::Impl {
    using Clock = std::chrono::steady_clock;

    explicit Impl(SupervisorOptions how);

    double now_s() const { return Seconds(Clock::now() - start).count(); }
    /// Throws std::out_of_range.
    SupervisedWorker& at(WorkerId id);

    /// One turn of the loop: waits, at most so long, and does everything that is due.
    void turn(Seconds wait);
    void poll_once(Seconds wait);
    std::optional<double> next_due_s() const;
    void take_signals();
    void read_lifeline();
    void read(WorkerId id);
    void fire_timers();
    void resume_hanging();

    // Beginnings (starting_workers.cpp).
    void launch(WorkerId id, const nlohmann::json& config);
    /// Takes what launchers have to say of the workers that they are starting.
    void take_starts();
    void started(Launcher::Start start);
    /// Reports it as dead: it never was.
    void give_up_start(WorkerId id, std::string why);
    void send(WorkerId id, const std::string& frame);
    /// Now, or once the worker has started. Not where it has ended.
    void act_on(WorkerId id, std::function<void()> act);

    // Deaths (dead_workers.cpp).
    /// Kills a worker that nobody may count on any more; its death is reported with `verdict`.
    void terminate(WorkerId id, std::string verdict);
    void signal(WorkerId id, int signal_number);
    void kill(WorkerId id);
    /// Its process is gone: takes what it still had to say.
    void notice_death(WorkerId id);
    /// Once its exit status is known, or has been waited for long enough.
    void report_death(WorkerId id);

    std::vector<std::unique_ptr<Launcher>> launchers;
    SupervisorOptions options;
    Clock::time_point start = Clock::now();
    SignalWatch signals{SIGINT, SIGTERM};
    HeartbeatMonitor monitor;
    int lifeline;
    double last_turn_s = 0;
    std::vector<std::unique_ptr<SupervisedWorker>> workers;
    std::deque<SupervisorEvent> events;
    std::set<std::pair<double, std::uint64_t>> timers;  ///< due at, id
    std::uint64_t next_timer = 1;
    std::map<WorkerId, double> resumes;  ///< when a hang ends
    Slowing slowing{[this](WorkerId id, int number) { signal(id, number); },
                    options.compute_threads};
    std::map<WorkerId, double> ended_at_s;  ///< of workers whose exit status is awaited
    InjectionCounts counts;
};

}  // namespace assay::cluster
