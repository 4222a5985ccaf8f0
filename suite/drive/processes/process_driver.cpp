#include "suite/drive/processes/process_driver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "suite/cluster/pacer.hpp"
#include "suite/drive/processes/injection.hpp"
#include "suite/drive/processes/role_worker.hpp"
#include "suite/measure/hardware/worker_room.hpp"

namespace assay::drive {

using cluster::Seconds;
using nlohmann::json;

namespace {

// Real seconds that the order of events waits for a worker that is late: it may be stuck.
constexpr double late_worker_s = 2;
constexpr double look_again_s = 0.01;

/// A hang that the modelled cluster survives is no death here either.
cluster::SupervisorOptions patient(const ProcessOptions& options) {
    cluster::SupervisorOptions patient = options.supervisor;
    if (options.pace == Pace::steady)
        patient.heartbeat_timeout +=
            Seconds(options.patience_s.value_or(options.detect_s) / options.speed);
    return patient;
}

}  // namespace

ProcessDriver::ProcessDriver(std::vector<Role> roles, ProcessOptions options, Recorder& recorder)
    : ProcessDriver(roles, cluster::make_fork_server(process_of(roles)), std::move(options),
                    recorder) {}

ProcessDriver::ProcessDriver(std::vector<Role> roles, std::unique_ptr<cluster::Launcher> launcher,
                             ProcessOptions options, Recorder& recorder)
    : options_(std::move(options)),
      paced_(options_.pace == Pace::steady),
      recorder_(recorder),
      roster_(std::move(roles)),
      supervisor_(std::move(launcher), patient(options_)),
      faults_(options_.faults, supervisor_, clock_,
              {.spawn = [this](const Fault& fault, bool more) { return join(fault, more); },
               .strikes = [this](const Fault& fault, WorkerId worker,
                                 std::string_view means) { on_fault(fault, worker, means); },
               .at = [this](double t_s, What what) { at(t_s, std::move(what)); },
               .now = [this] { return now(); },
               .target = [this](const Fault& fault) { return roster_.target(fault); },
               .is_target = [this](const Fault& fault, WorkerId worker) {
                   return roster_.is_target(fault, worker);
               },
               .resume = [this](WorkerId worker) { send_frame(worker, {{"drive", "continue"}}); },
               .inject = [this](const json& message, WorkerId worker) { inject(message, worker); },
               .pace = paced_ ? [this](WorkerId worker, double factor) {
                   send_frame(worker, {{"drive", "slow"}, {"from_s", now()}, {"factor", factor},
                                       {"urgent", true}});
               } : std::function<void(WorkerId, double)>{}}),
      offering_(options_.offers, options_.notice_s,
                {.at = [this](double t_s, What what) { at(t_s, std::move(what)); },
                 .tell = [this](const DriverEvent& event) { tell(event); },
                 .taken_away = [this](const std::string& instance) {
                     for (const WorkerId holder : roster_.under(instance)) {
                         supervisor_.kill(holder);
                         doom(holder, "revoked");
                     }
                 }}) {
    clock_.freeze();
    clock_.set_speed(options_.speed);
}

// ---- time ---------------------------------------------------------------------------------------

bool ProcessDriver::turn(double most_s) {
    begin_if_all_are_there();
    const double deadline_s = cluster::monotonic_s() + most_s / clock_.speed();
    // Workers are heard though there is always something due.
    constexpr long turns_without_hearing = 64;
    for (;;) {
        const bool hears = ++turns_ % turns_without_hearing == 0;
        if (tell_idle() || (!hears && flush_one())) return true;
        if (nothing_left()) return false;
        const double now_s = cluster::monotonic_s();
        double wait_s = hears ? 0 : std::clamp(deadline_s - now_s, 0.0, 1.0);
        if (begun_ && !queue_.empty()) {
            const double due_s = clock_.real_of(queue_.begin()->first.first) - now_s;
            wait_s = std::min(wait_s, due_s > 0 ? due_s : look_again_s);
        }
        if (auto event = supervisor_.next(Seconds(wait_s))) {
            if (std::visit([this](auto& one) { return handle(one); }, *event)) {
                tell_idle();
                return true;
            }
        } else if (!hears && cluster::monotonic_s() >= deadline_s) {
            return false;
        }
    }
}

bool ProcessDriver::flush_one() {
    if (!begun_ || queue_.empty()) return false;
    const auto first = queue_.begin();
    const double t_s = first->first.first, late_s = clock_.now() - t_s;
    if (late_s < -1e-9 || (paced_ && first->first > least_bound())) return false;
    const What what = std::move(first->second);
    queue_.erase(first);
    told_s_ = std::max(told_s_, t_s);
    if (paced_) worst_late_s_ = std::max(worst_late_s_, late_s);
    what();
    return true;
}

ProcessDriver::Moment ProcessDriver::least_bound() const {
    Moment least{never, -1};
    for (std::size_t i = 0; i < processes_.size(); ++i) {
        const Moment moment{bound(processes_[i]), static_cast<WorkerId>(i)};
        const bool waited_for =
            cluster::monotonic_s() < clock_.real_of(moment.first) + late_worker_s;
        if (moment < least && waited_for) least = moment;
    }
    for (const auto& [id, one] : under_way_)  // until it is answered it may break where it began
        if (one.begun_s && !one.arrived && !one.broken && !roster_.at(one.order.from).dead &&
            !roster_.at(one.order.to).dead &&
            cluster::monotonic_s() < clock_.real_of(*one.begun_s) + late_worker_s)
            least = std::min(least, Moment{*one.begun_s, -1});
    if (!ended_.empty()) least = std::min(least, Moment{ended_.front().first, -1});
    return least;
}

double ProcessDriver::bound(const Process& process) const {
    if (process.doomed || process.exited) return never;
    if (!process.joined) return std::nextafter(process.until_s, -never);
    const double sent_s = process.unheard_s.empty() ? never : process.unheard_s.front();
    if (process.rests) return sent_s;
    if (process.meets || process.interruptible) return std::min(process.until_s, sent_s);
    return process.until_s;
}

bool ProcessDriver::nothing_left() const {
    return begun_ && queue_.empty() && under_way_.empty() &&
           std::all_of(processes_.begin(), processes_.end(), [](const Process& process) {
               return process.exited || (!process.doomed && (process.rests || process.meets) &&
                                         process.unheard_s.empty());
           });
}

void ProcessDriver::begin_if_all_are_there() {
    if (begun_) return;
    for (const Process& process : processes_)
        if (!process.joined && !process.exited) return;
    begun_ = true;
    clock_.run();
    WorkerId last = -1;
    for (std::size_t i = 0; i < processes_.size(); ++i)
        if (processes_[i].joined) last = static_cast<WorkerId>(i);
    for (WorkerId worker = 0; worker <= last; ++worker) {
        if (!process(worker).joined) continue;
        let_begin(worker, 0);
        come(worker, worker != last);
    }
    faults_.begin();
    offering_.begin();
}

bool ProcessDriver::tell_idle() {
    if (!begun_ || there_ > 0 || faults_.joins_to_come() || offering_.more_to_come()) return false;
    if (std::exchange(idle_, true)) return false;
    tell(Idle{});
    return true;
}

// ---- coming -------------------------------------------------------------------------------------

WorkerId ProcessDriver::spawn(const Spawn& spawn, json configuration) {
    const WorkerId worker = add(spawn, std::move(configuration));
    if (begun_ && paced_) come(worker, false);
    return worker;
}

WorkerId ProcessDriver::join(const Fault& fault, bool more) {
    const WorkerId worker = add(roster_.newcomer(fault), {});
    if (paced_) come(worker, more);
    return worker;
}

WorkerId ProcessDriver::add(const Spawn& spawn, json configuration) {
    measure::require_room_for_workers(there_ + 1);
    const WorkerId worker = roster_.add(spawn);
    Process& process = processes_.emplace_back();
    process.until_s = begun_ ? now() + options_.boot_s : 0;
    ++there_;
    idle_ = false;
    modelled_.set_nic(worker, roster_.role_of(worker).nic);
    const std::size_t role = roster_.at(worker).role;
    json config{{"role", role},
                {"configuration", roster_.configuration(spawn, std::move(configuration))},
                {"seed", worker},
                {"heartbeat_s", options_.supervisor.heartbeat_interval.count()},
                {"points", faults_.points_for(worker)}};
    for (const Fault& fault : options_.faults.faults)  // any worker's reaching that step strikes it
        if (fault.kind == FaultKind::join && fault.step)
            config["points"].push_back({{"phase", start_point}, {"step", *fault.step}});
    if (supervisor_.spawn(config) != worker)
        throw std::logic_error("worker ids are not consecutive");
    if (!offering_.can_spawn({roster_.role_of(worker).name, spawn.instance})) {
        supervisor_.kill(worker);
        doom(worker, "its name is not offered");
    } else if (begun_) {
        let_begin(worker, process.until_s);
    }
    return worker;
}

void ProcessDriver::let_begin(WorkerId worker, double at_s) {
    send_frame(worker, {{"drive", "begin"},
                        {"paced", paced_},
                        {"speed", clock_.speed()},
                        {"at_s", at_s},
                        {"real_s", clock_.real_of(at_s)}});
}

void ProcessDriver::on_joined(WorkerId worker, Process& process) {
    process.joined = true;
    faults_.on_joined(worker);
    if (begun_ && !paced_) come(worker, false);
}

/// Paced, when the modelled cluster has started it, or later, where this machine takes longer.
void ProcessDriver::come(WorkerId worker, bool more) {
    at(paced_ ? process(worker).until_s : clock_.now(), [this, worker, more] {
        if (process(worker).doomed) return;
        if (!process(worker).joined) {
            process(worker).until_s = now() + look_again_s * clock_.speed();
            return come(worker, more);
        }
        recorder_.event("join", now(), worker, json::object());
        watch(worker, now());
        tell(roster_.joined(worker, more));
    });
}

// ---- what is said to workers --------------------------------------------------------------------

void ProcessDriver::send_frame(WorkerId worker, json frame) { supervisor_.send(worker, frame); }

void ProcessDriver::send(WorkerId worker, const AnyMessage& message) {
    Process& one = process(worker);
    if (one.exited || one.doomed) return;
    json body = message.to_json();
    if (paced_) body["at_s"] = now();
    // Its silence counts from here; that of one that is at work, from when it was last heard of.
    if (one.rests && one.unheard_s.empty()) watch(worker, now());
    one.unheard_s.push_back(now());
    supervisor_.send(worker, body);
}

void ProcessDriver::start(const StartTimer& timer) {
    at(now() + timer.after_s, [this, id = timer.id] { tell(Timer{id}); });
}

// ---- going --------------------------------------------------------------------------------------

void ProcessDriver::dismiss(WorkerId worker) {
    Roster::Entry& entry = roster_.at(worker);
    if (!entry.how.empty() || std::exchange(entry.dismissed, true)) return;
    --there_;
    Process& one = process(worker);
    if (one.exited || one.doomed) return;
    one.unheard_s.push_back(now());
    send_frame(worker, {{"drive", "dismiss"}, {"at_s", now()}});
}

void ProcessDriver::evict(const Evict& evict) {
    recorder_.event("evict", now(), evict.worker, {{"why", evict.why}});
    supervisor_.kill(evict.worker);
    doom(evict.worker, "evicted");
}

void ProcessDriver::doom(WorkerId worker, const std::string& how) {
    doom(worker, how, options_.detect_s);
}

void ProcessDriver::doom(WorkerId worker, const std::string& how, double known_after_s) {
    Process& one = process(worker);
    roster_.at(worker).dead = true;
    if (std::exchange(one.doomed, true)) return;
    one.doomed_s = now();
    if (!paced_) return;  // it is told of when the supervisor knows
    stopped_[worker] = modelled_.stop_all_of(worker);
    std::erase_if(ended_, [&](const auto& one) {  // their bytes will not come any more
        const auto there = under_way_.find(one.second);
        if (there == under_way_.end() || there->second.arrived) return false;
        return there->second.order.from == worker || there->second.order.to == worker;
    });
    at(begun_ ? now() + known_after_s : 0, [this, worker, how] { die(worker, how); });
}

void ProcessDriver::die(WorkerId worker, const std::string& how) {
    Roster::Entry& entry = roster_.at(worker);
    Process& one = process(worker);
    one.doomed = entry.dead = true;
    entry.how = one.how.empty() ? how : one.how;
    supervisor_.kill(worker);  // one that is frozen
    faults_.on_gone(worker);
    end_what_needs(worker);
    if (entry.dismissed) return;
    --there_;
    recorder_.event("death", now(), worker, {{"how", entry.how}});
    tell(Died{worker});
}

void ProcessDriver::end_what_needs(WorkerId worker) {
    break_transfers(worker);
    break_for(meetings_.need(worker));
    meetings_.go_on(worker);
}

// ---- faults -------------------------------------------------------------------------------------

void ProcessDriver::strike(const Fault& fault) {
    Fault timed = fault;  // one inside a worker travels as text, which has a time
    timed.step.reset();
    timed.t_s = now();
    faults_.strike_now(timed);
}

/// Paced, links are modelled; in real time the worker's own are struck.
void ProcessDriver::inject(const json& message, WorkerId worker) {
    const Fault fault = injected_from(message, roster_.role_of(worker).phases);
    if (paced_ && strikes_transport(fault)) {
        if (fault.kind == FaultKind::corrupt) corrupts_[worker].push_back(message.at("index"));
        return;
    }
    json frame = message;
    frame["drive"] = "inject";
    frame["urgent"] = true;
    send_frame(worker, std::move(frame));
}

void ProcessDriver::on_fault(const Fault& fault, WorkerId worker, std::string_view means) {
    json detail{{"kind", to_string(fault.kind)}, {"fault", to_string(fault)}};
    if (!means.empty()) detail["by"] = means;
    recorder_.event("fault", now(), worker, detail);
    switch (fault.kind) {
        case FaultKind::kill:
            return doom(worker, "killed");
        case FaultKind::hang:
            if (!paced_) {  // it will be heard of, dead or alive
                process(worker).rests = false;
                return;
            }
            if (const double most_s = options_.patience_s.value_or(options_.detect_s);
                !fault.for_s || *fault.for_s >= most_s)
                return doom(worker, "frozen", most_s);
            return send_frame(worker, {{"drive", "freeze"},
                                       {"from_s", now()},
                                       {"for_s", *fault.for_s},
                                       {"urgent", true}});
        case FaultKind::link:
            if (paced_)
                modelled_.set_link(worker, fault.peer,
                                   {.latency_s = fault.latency_s,
                                    .bandwidth = fault.bandwidth,
                                    .cut = fault.cut,
                                    .loss = fault.loss},
                                   fault.for_s);
            return;
        case FaultKind::stop:
            process(worker).asked_to_leave = true;
            recorder_.event("leave", now(), worker, json::object());
            return tell(LeaveRequested{worker});
        default:
            return;
    }
}

}  // namespace assay::drive
