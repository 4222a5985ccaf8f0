#include "suite/cluster/processes/supervisor.hpp"

#include <fmt/core.h>
#include <signal.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "suite/cluster/processes/frame.hpp"
#include "suite/cluster/processes/supervisor_loop.hpp"

namespace assay::cluster {
namespace {

/// How long the destructor waits for workers that do not die of SIGKILL (a hung device driver).
constexpr Seconds kReapWait{10.0};

}  // namespace

Supervisor::Supervisor(std::unique_ptr<Launcher> launcher, SupervisorOptions options)
    : impl_(std::make_unique<Impl>(options)) {
    add_launcher(std::move(launcher));
}

Supervisor::~Supervisor() {
    try {
        for (WorkerId id : alive()) {
            const auto state = impl_->at(id).state;
            // Those that are still to start are the launchers' business alone.
            if (state == SupervisedWorker::State::starting) impl_->give_up_start(id, "not needed");
            if (state == SupervisedWorker::State::live) impl_->kill(id);
        }
        const double deadline = now_s() + kReapWait.count();
        while (!alive().empty() && now_s() < deadline)
            impl_->turn(impl_->options.heartbeat_interval);
    } catch (const std::exception& error) {
        // The launchers' own end kills and reaps what is left.
        fmt::print(stderr, "assay: while ending the workers: {}\n", error.what());
    }
}

std::size_t Supervisor::add_launcher(std::unique_ptr<Launcher> launcher) {
    impl_->launchers.push_back(std::move(launcher));
    return impl_->launchers.size() - 1;
}

WorkerId Supervisor::spawn(const nlohmann::json& config, std::size_t launcher) {
    if (launcher >= impl_->launchers.size()) {
        throw std::out_of_range(fmt::format("there is no launcher {}", launcher));
    }
    const WorkerId id = static_cast<WorkerId>(impl_->workers.size());
    auto worker = std::make_unique<SupervisedWorker>();
    worker->launcher = impl_->launchers[launcher].get();
    impl_->workers.push_back(std::move(worker));
    impl_->launch(id, config);
    return id;
}

void Supervisor::send(WorkerId id, const nlohmann::json& body) {
    if (alive(id)) impl_->send(id, encode_message(body));
}

void Supervisor::send(const std::vector<WorkerId>& ids, const nlohmann::json& body) {
    const std::string frame = encode_message(body);
    for (WorkerId id : ids) impl_->send(id, frame);
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
    impl_->act_on(id, [this, id] {
        if (std::exchange(impl_->at(id).killed, true)) return;
        impl_->kill(id);
        ++impl_->counts.kills;
    });
}

void Supervisor::hang(WorkerId id, std::optional<Seconds> duration) {
    impl_->act_on(id, [this, id, duration] {
        SupervisedWorker& worker = impl_->at(id);
        if (worker.killed || worker.hanging) return;
        worker.hanging = true;
        impl_->signal(id, SIGSTOP);
        impl_->slowing.hang(id);
        impl_->monitor.restart(id);
        if (duration) impl_->resumes[id] = now_s() + duration->count();
        ++impl_->counts.hangs;
    });
}

void Supervisor::stop(WorkerId id) {
    impl_->act_on(id, [this, id] {
        SupervisedWorker& worker = impl_->at(id);
        if (worker.killed || worker.asked_to_stop) return;
        worker.asked_to_stop = true;
        impl_->signal(id, SIGTERM);
        ++impl_->counts.stops;
    });
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
    while (worker.state == SupervisedWorker::State::starting)
        impl_->turn(impl_->options.heartbeat_interval);
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
