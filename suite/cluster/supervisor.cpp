// One poll loop over: signals, the lifeline, the launcher, and two descriptors per worker (channel
// and death). Order within one turn: what arrived, deaths, timers, resumes, slowdowns, silence;
// so a message that came with a death precedes it, and a worker that is resumed in time is never
// called silent.
#include "suite/cluster/supervisor.hpp"

#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <set>

#include "suite/cluster/frame.hpp"
#include "suite/cluster/heartbeat_monitor.hpp"
#include "suite/cluster/signal_watch.hpp"
#include "suite/cluster/slowing.hpp"
#include "suite/cluster/worker_connection.hpp"

namespace assay::cluster {
namespace {

using Clock = std::chrono::steady_clock;

/// How long a death waits for its exit status before it is reported without one.
constexpr Seconds kExitStatusWait{1.0};
/// How often to ask a launcher that cannot wake us.
constexpr Seconds kAskAgain{0.001};
/// How long the destructor waits for workers that do not die of SIGKILL (a hung device driver).
constexpr Seconds kReapWait{10.0};

enum class WorkerState { live, ending, dead };

struct Worker {
    Launcher::Launched launched;
    WorkerConnection connection;
    FileDescriptor death;
    WorkerState state = WorkerState::live;
    bool killed = false, hanging = false, asked_to_stop = false;
    double detected_s = 0;
    std::string verdict;  ///< why we killed it, when nobody asked for that
    std::string failure;  ///< what it said before it ended in error
};

}  // namespace

struct Supervisor::Impl {
    Impl(std::unique_ptr<Launcher> where, SupervisorOptions how)
        : launcher(std::move(where)),
          options(how),
          monitor(how.heartbeat_interval, how.heartbeat_timeout, how.start_timeout),
          lifeline(how.lifeline_fd) {
        if (how.heartbeat_interval.count() <= 0 ||
            how.heartbeat_timeout < 2 * how.heartbeat_interval) {
            throw std::invalid_argument(
                "heartbeats: the interval must be positive and the timeout at least twice as long");
        }
    }

    double now_s() const { return Seconds(Clock::now() - start).count(); }

    Worker& at(WorkerId id) {
        if (id < 0 || id >= static_cast<WorkerId>(workers.size())) {
            throw std::out_of_range(fmt::format("there is no worker {}", id));
        }
        return *workers[id];
    }

    // ---- one turn of the loop ------------------------------------------------------------------
    void turn(Seconds wait) {
        poll_once(wait);
        for (WorkerId id = 0; id < static_cast<WorkerId>(workers.size()); ++id) {
            if (workers[id]->state == WorkerState::ending) finish(id);
        }
        fire_timers();
        resume_hanging();
        const double now = now_s();
        monitor.tick(Seconds(now - last_turn_s));
        // Nobody can beat while we hold them.
        slowing.for_each_held([&](WorkerId id, double share) {
            monitor.excuse(id, share * Seconds(now - last_turn_s));
        });
        last_turn_s = now;
        slowing.drive(now);
        for (const auto& silent : monitor.silent()) {
            condemn(silent.worker,
                    silent.never_heard
                        ? fmt::format("no heartbeat within {:.2f} s of its start",
                                      silent.silence.count())
                        : fmt::format("heartbeat lost after {:.2f} s", silent.silence.count()));
        }
    }

    void poll_once(Seconds wait) {
        std::vector<pollfd> watched{{signals.fd(), POLLIN, 0}, {lifeline, POLLIN, 0}};
        struct Source {
            WorkerId worker;
            bool death;
        };
        std::vector<Source> sources(watched.size());
        bool waiting_for_status = false, any_live = false;
        for (WorkerId id = 0; id < static_cast<WorkerId>(workers.size()); ++id) {
            const Worker& worker = *workers[id];
            if (worker.state == WorkerState::dead) continue;
            if (worker.connection.open()) {
                const short events = worker.connection.wants_to_write() ? POLLIN | POLLOUT : POLLIN;
                watched.push_back({worker.connection.fd(), events, 0});
                sources.push_back({id, false});
            }
            if (worker.state == WorkerState::live) {
                any_live = true;
                watched.push_back({worker.death.get(), POLLIN, 0});
                sources.push_back({id, true});
            } else {
                waiting_for_status = true;
            }
        }
        const std::size_t worker_sources = watched.size();
        if (waiting_for_status) {
            watched.push_back({launcher->wake_fd(), POLLIN, 0});
            wait = std::min(wait, launcher->wake_fd() < 0 ? kAskAgain : options.heartbeat_interval);
        }
        if (any_live) wait = std::min(wait, options.heartbeat_interval);
        if (const auto due = next_due_s()) wait = std::min(wait, Seconds(*due - now_s()));
        wait = std::max(wait, Seconds(0));
        timespec timeout{};
        timeout.tv_sec = static_cast<time_t>(wait.count());
        timeout.tv_nsec = static_cast<long>((wait.count() - double(timeout.tv_sec)) * 1e9);
        if (::ppoll(watched.data(), watched.size(), &timeout, nullptr) <= 0) return;

        if (watched[0].revents != 0) take_signals();
        if (watched[1].revents != 0) read_lifeline();
        for (std::size_t i = 2; i < worker_sources; ++i) {
            if (watched[i].revents == 0) continue;
            const auto [id, death] = sources[i];
            if (death) {
                notice_death(id);
            } else {
                workers[id]->connection.flush();
                read(id);
            }
        }
    }

    std::optional<double> next_due_s() const {
        std::optional<double> due;
        if (!timers.empty()) due = timers.begin()->first;
        for (const auto& [id, at_s] : resumes) due = due ? std::min(*due, at_s) : at_s;
        if (const auto at_s = slowing.next_due_s()) due = due ? std::min(*due, *at_s) : *at_s;
        return due;
    }

    void take_signals() {
        while (const auto signal_number = signals.take()) {
            events.push_back(Interrupted{*signal_number == SIGINT ? "SIGINT" : "SIGTERM"});
        }
    }

    void read_lifeline() {
        char ignored[256];
        const ssize_t got = ::read(lifeline, ignored, sizeof ignored);
        if (got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN))) return;
        lifeline = -1;
        events.push_back(
            Interrupted{"the lifeline closed: the process that started this one is gone"});
    }

    void read(WorkerId id) {
        Worker& worker = *workers[id];
        auto received = worker.connection.receive();
        if (received.any_bytes) monitor.heard(id);
        for (auto& body : received.messages) events.push_back(WorkerMessage{id, std::move(body)});
        if (!received.failure.empty()) worker.failure = std::move(received.failure);
        if (!received.malformed.empty()) condemn(id, received.malformed);
    }

    // ---- deaths --------------------------------------------------------------------------------
    /// Kills a worker that nobody may count on any more; its death is reported with `verdict`.
    void condemn(WorkerId id, std::string verdict) {
        Worker& worker = *workers[id];
        monitor.forget(id);
        if (worker.state != WorkerState::live) return;
        worker.verdict = std::move(verdict);
        worker.detected_s = now_s();
        kill(id);
    }

    void kill(WorkerId id) {
        launcher->signal(workers[id]->launched, SIGKILL);
        slowing.killed(id);
    }

    void notice_death(WorkerId id) {
        Worker& worker = *workers[id];
        worker.state = WorkerState::ending;
        if (worker.verdict.empty()) worker.detected_s = now_s();
        monitor.forget(id);
        resumes.erase(id);
        slowing.gone(id);
        ended_at_s[id] = now_s();
        while (worker.connection.open()) {  // its last words
            const std::size_t before = events.size();
            read(id);
            if (events.size() == before) break;
        }
    }

    void finish(WorkerId id) {
        Worker& worker = *workers[id];
        std::string how = launcher->exit_status(worker.launched);
        if (how.empty()) {
            if (now_s() - ended_at_s[id] < kExitStatusWait.count()) return;
            how = "gone, exit status unknown";
        }
        if (!worker.verdict.empty()) {
            how = worker.verdict;
        } else if (!worker.failure.empty()) {
            how += ": " + worker.failure;
        }
        worker.state = WorkerState::dead;
        worker.connection = WorkerConnection();
        worker.death.reset();
        ended_at_s.erase(id);
        events.push_back(WorkerDied{id, std::move(how), worker.detected_s});
    }

    // ---- timers --------------------------------------------------------------------------------
    void fire_timers() {
        const double now = now_s();
        while (!timers.empty() && timers.begin()->first <= now) {
            events.push_back(TimerFired{timers.begin()->second});
            timers.erase(timers.begin());
        }
    }

    void resume_hanging() {
        const double now = now_s();
        for (auto it = resumes.begin(); it != resumes.end();) {
            if (it->second > now) {
                ++it;
                continue;
            }
            Worker& worker = *workers[it->first];
            worker.hanging = false;
            if (!worker.killed && worker.verdict.empty()) {
                launcher->signal(worker.launched, SIGCONT);
                monitor.restart(it->first);
                ++counts.resumes;
            }
            slowing.resume(it->first, now);
            it = resumes.erase(it);
        }
    }

    std::unique_ptr<Launcher> launcher;
    SupervisorOptions options;
    Clock::time_point start = Clock::now();
    SignalWatch signals{SIGINT, SIGTERM};
    HeartbeatMonitor monitor;
    int lifeline;
    double last_turn_s = 0;
    std::vector<std::unique_ptr<Worker>> workers;
    std::deque<SupervisorEvent> events;
    std::set<std::pair<double, std::uint64_t>> timers;  ///< due at, id
    std::uint64_t next_timer = 1;
    std::map<WorkerId, double> resumes;  ///< when a hang ends
    Slowing slowing{[this](WorkerId id, int number) { launcher->signal(at(id).launched, number); },
                    options.compute_threads};
    std::map<WorkerId, double> ended_at_s;  ///< of workers whose exit status is awaited
    InjectionCounts counts;
};

Supervisor::Supervisor(std::unique_ptr<Launcher> launcher, SupervisorOptions options)
    : impl_(std::make_unique<Impl>(std::move(launcher), options)) {}

Supervisor::~Supervisor() {
    try {
        for (WorkerId id = 0; id < static_cast<WorkerId>(impl_->workers.size()); ++id) {
            if (impl_->at(id).state == WorkerState::live) impl_->kill(id);
        }
        const double deadline = now_s() + kReapWait.count();
        while (!alive().empty() && now_s() < deadline)
            impl_->turn(impl_->options.heartbeat_interval);
    } catch (const std::exception& error) {
        // The launcher's own end kills and reaps what is left.
        fmt::print(stderr, "assay: while ending the workers: {}\n", error.what());
    }
}

WorkerId Supervisor::spawn(const nlohmann::json& config) {
    const WorkerId id = static_cast<WorkerId>(impl_->workers.size());
    auto worker = std::make_unique<Worker>();
    worker->launched = impl_->launcher->launch(id, config);
    worker->connection = WorkerConnection(worker->launched.channel_fd);
    worker->death = FileDescriptor(worker->launched.death_fd);
    impl_->workers.push_back(std::move(worker));
    impl_->monitor.watch(id);
    return id;
}

void Supervisor::send(WorkerId id, const nlohmann::json& body) {
    if (alive(id)) impl_->at(id).connection.send(encode_message(body));
}

void Supervisor::send(const std::vector<WorkerId>& ids, const nlohmann::json& body) {
    const std::string frame = encode_message(body);
    for (WorkerId id : ids) {
        if (alive(id)) impl_->at(id).connection.send(frame);
    }
}

bool Supervisor::alive(WorkerId id) const { return impl_->at(id).state != WorkerState::dead; }

std::vector<WorkerId> Supervisor::alive() const {
    std::vector<WorkerId> ids;
    for (WorkerId id = 0; id < static_cast<WorkerId>(impl_->workers.size()); ++id) {
        if (alive(id)) ids.push_back(id);
    }
    return ids;
}

long Supervisor::pid(WorkerId id) const { return impl_->at(id).launched.pid; }

std::uint64_t Supervisor::start_timer(Seconds after) {
    const std::uint64_t id = impl_->next_timer++;
    impl_->timers.emplace(now_s() + after.count(), id);
    return id;
}

void Supervisor::cancel_timer(std::uint64_t id) {
    auto& timers = impl_->timers;
    const auto found =
        std::find_if(timers.begin(), timers.end(), [&](const auto& t) { return t.second == id; });
    if (found != timers.end()) timers.erase(found);
    // A timer that has fired, but whose event nobody took yet, is cancelled too.
    auto& events = impl_->events;
    events.erase(std::remove_if(events.begin(), events.end(),
                                [&](const SupervisorEvent& event) {
                                    const auto* fired = std::get_if<TimerFired>(&event);
                                    return fired != nullptr && fired->id == id;
                                }),
                 events.end());
}

std::optional<SupervisorEvent> Supervisor::next(Seconds timeout) {
    const double deadline = now_s() + timeout.count();
    // Also with events at hand: a caller busy with a long queue must not keep the workers waiting.
    const auto switch_s = impl_->slowing.next_due_s();
    if (impl_->events.empty() || (switch_s && *switch_s <= now_s()) ||
        now_s() - impl_->last_turn_s > impl_->options.heartbeat_interval.count()) {
        impl_->turn(impl_->events.empty() ? timeout : Seconds(0));
    }
    while (impl_->events.empty()) {
        const double left = deadline - now_s();
        if (left <= 0) return std::nullopt;
        impl_->turn(Seconds(left));
    }
    SupervisorEvent event = std::move(impl_->events.front());
    impl_->events.pop_front();
    return event;
}

void Supervisor::kill(WorkerId id) {
    Worker& worker = impl_->at(id);
    if (worker.state != WorkerState::live || worker.killed) return;
    worker.killed = true;
    impl_->kill(id);
    ++impl_->counts.kills;
}

void Supervisor::hang(WorkerId id, std::optional<Seconds> duration) {
    Worker& worker = impl_->at(id);
    if (worker.state != WorkerState::live || worker.killed || worker.hanging) return;
    worker.hanging = true;
    impl_->launcher->signal(worker.launched, SIGSTOP);
    impl_->slowing.hang(id);
    impl_->monitor.restart(id);
    if (duration) impl_->resumes[id] = now_s() + duration->count();
    ++impl_->counts.hangs;
}

void Supervisor::stop(WorkerId id) {
    Worker& worker = impl_->at(id);
    if (worker.state != WorkerState::live || worker.killed || worker.asked_to_stop) return;
    worker.asked_to_stop = true;
    impl_->launcher->signal(worker.launched, SIGTERM);
    ++impl_->counts.stops;
}

std::optional<SlowMeans> Supervisor::slow(WorkerId id, double share,
                                          std::optional<Seconds> duration,
                                          std::optional<SlowMeans> by) {
    if (!(share >= Slowing::kLeastShare)) {
        throw std::invalid_argument(fmt::format(
            "slow: a share of {} is less than {}; hang the worker", share, Slowing::kLeastShare));
    }
    if (duration && !(duration->count() >= 0)) {
        throw std::invalid_argument("slow: it cannot last less than 0 s");
    }
    Worker& worker = impl_->at(id);
    const bool dying = worker.killed || !worker.verdict.empty();
    if (worker.state != WorkerState::live || dying) return std::nullopt;
    if (share >= 1) {
        impl_->slowing.end(id);
        return std::nullopt;
    }
    const double end_s =
        duration ? now_s() + duration->count() : std::numeric_limits<double>::infinity();
    const auto used = impl_->slowing.begin(
        id, worker.launched, {.share = share, .end_s = end_s, .by = by, .hanging = worker.hanging},
        now_s());
    ++impl_->counts.slows;
    return used;
}

std::string Supervisor::why_no_quota() { return impl_->slowing.why_no_quota(); }

Supervisor::InjectionCounts Supervisor::injected() const { return impl_->counts; }

double Supervisor::now_s() const { return impl_->now_s(); }

}  // namespace assay::cluster
