// One poll loop over: signals, the lifeline, the launchers, and two descriptors per worker (channel
// and death). Order within one turn: what arrived, starts, deaths, timers, resumes, slowdowns,
// silence; so a message that came with a death precedes it, and a worker that is resumed in time is
// never called silent.
#include "suite/cluster/processes/supervisor_loop.hpp"

#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>

namespace assay::cluster {
namespace {

/// How often to ask a launcher that cannot wake us.
constexpr Seconds kAskAgain{0.001};

}  // namespace

Supervisor::Impl::Impl(SupervisorOptions how)
    : options(how),
      monitor(how.heartbeat_interval, how.heartbeat_timeout, how.start_timeout),
      lifeline(how.lifeline_fd) {
    if (how.heartbeat_interval.count() <= 0 || how.heartbeat_timeout < 2 * how.heartbeat_interval) {
        throw std::invalid_argument(
            "heartbeats: the interval must be positive and the timeout at least twice as long");
    }
}

SupervisedWorker& Supervisor::Impl::at(WorkerId id) {
    if (id < 0 || id >= static_cast<WorkerId>(workers.size())) {
        throw std::out_of_range(fmt::format("there is no worker {}", id));
    }
    return *workers[id];
}

void Supervisor::Impl::turn(Seconds wait) {
    poll_once(wait);
    take_starts();
    for (WorkerId id = 0; id < static_cast<WorkerId>(workers.size()); ++id) {
        if (workers[id]->state == SupervisedWorker::State::ending) report_death(id);
    }
    fire_timers();
    resume_hanging();
    const double now = now_s();
    monitor.tick(Seconds(now - last_turn_s));
    // Nobody can beat while we hold them.
    slowing.for_each_held(
        [&](WorkerId id, double share) { monitor.excuse(id, share * Seconds(now - last_turn_s)); });
    last_turn_s = now;
    slowing.drive(now);
    for (const auto& silent : monitor.silent()) {
        const double silence_s = silent.silence.count();
        if (workers[silent.worker]->state == SupervisedWorker::State::starting) {
            give_up_start(silent.worker, fmt::format("not started within {:.2f} s", silence_s));
        } else {
            terminate(silent.worker,
                      silent.never_heard
                          ? fmt::format("no heartbeat within {:.2f} s of its start", silence_s)
                          : fmt::format("heartbeat lost after {:.2f} s", silence_s));
        }
    }
}

void Supervisor::Impl::poll_once(Seconds wait) {
    std::vector<pollfd> watched{{signals.fd(), POLLIN, 0}, {lifeline, POLLIN, 0}};
    struct Source {
        WorkerId worker;
        bool death;
    };
    std::vector<Source> sources(watched.size());
    bool any_running = false;
    std::set<const Launcher*> awaited;  // to tell of a start, or of an exit status
    for (WorkerId id = 0; id < static_cast<WorkerId>(workers.size()); ++id) {
        const SupervisedWorker& worker = *workers[id];
        if (worker.state == SupervisedWorker::State::dead) continue;
        if (worker.connection.open()) {
            const short events = worker.connection.wants_to_write() ? POLLIN | POLLOUT : POLLIN;
            watched.push_back({worker.connection.fd(), events, 0});
            sources.push_back({id, false});
        }
        any_running = true;
        if (worker.state == SupervisedWorker::State::live) {
            watched.push_back({worker.launched.death.get(), POLLIN, 0});
            sources.push_back({id, true});
        } else {
            awaited.insert(worker.launcher);
        }
    }
    const std::size_t worker_sources = watched.size();
    for (const Launcher* launcher : awaited) {
        watched.push_back({launcher->wake_fd(), POLLIN, 0});
        if (launcher->wake_fd() < 0) wait = std::min(wait, kAskAgain);
    }
    if (any_running) wait = std::min(wait, options.heartbeat_interval);
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

std::optional<double> Supervisor::Impl::next_due_s() const {
    std::optional<double> due;
    if (!timers.empty()) due = timers.begin()->first;
    for (const auto& [id, at_s] : resumes) due = due ? std::min(*due, at_s) : at_s;
    if (const auto at_s = slowing.next_due_s()) due = due ? std::min(*due, *at_s) : *at_s;
    return due;
}

void Supervisor::Impl::take_signals() {
    while (const auto signal_number = signals.take()) {
        events.push_back(Interrupted{*signal_number == SIGINT ? "SIGINT" : "SIGTERM"});
    }
}

void Supervisor::Impl::read_lifeline() {
    char ignored[256];
    const ssize_t got = ::read(lifeline, ignored, sizeof ignored);
    if (got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN))) return;
    lifeline = -1;
    events.push_back(Interrupted{"the lifeline closed: the process that started this one is gone"});
}

void Supervisor::Impl::read(WorkerId id) {
    SupervisedWorker& worker = *workers[id];
    auto received = worker.connection.receive();
    if (received.any_bytes) monitor.heard(id);
    for (auto& body : received.messages) events.push_back(WorkerMessage{id, std::move(body)});
    if (!received.failure.empty()) worker.failure = std::move(received.failure);
    if (!received.malformed.empty()) terminate(id, received.malformed);
}

void Supervisor::Impl::fire_timers() {
    const double now = now_s();
    while (!timers.empty() && timers.begin()->first <= now) {
        events.push_back(TimerFired{timers.begin()->second});
        timers.erase(timers.begin());
    }
}

void Supervisor::Impl::resume_hanging() {
    const double now = now_s();
    for (auto it = resumes.begin(); it != resumes.end();) {
        if (it->second > now) {
            ++it;
            continue;
        }
        SupervisedWorker& worker = *workers[it->first];
        worker.hanging = false;
        if (!worker.killed && worker.verdict.empty()) {
            signal(it->first, SIGCONT);
            monitor.restart(it->first);
            ++counts.resumes;
        }
        slowing.resume(it->first, now);
        it = resumes.erase(it);
    }
}

}  // namespace assay::cluster
