#include "suite/cluster/processes/supervisor.hpp"

#include <fmt/core.h>
#include <signal.h>

#include <algorithm>
#include <limits>

#include "suite/cluster/processes/frame.hpp"
#include "suite/cluster/processes/supervisor_loop.hpp"

namespace assay::cluster {
namespace {

/// How long the destructor waits for workers that do not die of SIGKILL (a hung device driver).
constexpr Seconds kReapWait{10.0};

}  // namespace

Supervisor::Supervisor(std::unique_ptr<Launcher> launcher, SupervisorOptions options)
    : impl_(std::make_unique<Impl>(std::move(launcher), options)) {}

Supervisor::~Supervisor() {
    try {
        for (WorkerId id = 0; id < static_cast<WorkerId>(impl_->workers.size()); ++id) {
            if (impl_->at(id).state == SupervisedWorker::State::live) impl_->kill(id);
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
    auto worker = std::make_unique<SupervisedWorker>();
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

bool Supervisor::alive(WorkerId id) const {
    return impl_->at(id).state != SupervisedWorker::State::dead;
}

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
    SupervisedWorker& worker = impl_->at(id);
    if (worker.state != SupervisedWorker::State::live || worker.killed) return;
    worker.killed = true;
    impl_->kill(id);
    ++impl_->counts.kills;
}

void Supervisor::hang(WorkerId id, std::optional<Seconds> duration) {
    SupervisedWorker& worker = impl_->at(id);
    if (worker.state != SupervisedWorker::State::live || worker.killed || worker.hanging) return;
    worker.hanging = true;
    impl_->launcher->signal(worker.launched, SIGSTOP);
    impl_->slowing.hang(id);
    impl_->monitor.restart(id);
    if (duration) impl_->resumes[id] = now_s() + duration->count();
    ++impl_->counts.hangs;
}

void Supervisor::stop(WorkerId id) {
    SupervisedWorker& worker = impl_->at(id);
    if (worker.state != SupervisedWorker::State::live || worker.killed || worker.asked_to_stop)
        return;
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
    SupervisedWorker& worker = impl_->at(id);
    const bool dying = worker.killed || !worker.verdict.empty();
    if (worker.state != SupervisedWorker::State::live || dying) return std::nullopt;
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
