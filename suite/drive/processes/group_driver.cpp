#include "suite/drive/processes/group_driver.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "suite/cluster/pacer.hpp"
#include "suite/drive/processes/paced_time.hpp"
#include "suite/measure/hardware/worker_room.hpp"

namespace assay::drive {

using cluster::Seconds;
using nlohmann::json;

namespace {

// A death is noticed after the heartbeat's timeout, or at once; then it has to be read.
constexpr double longest_way_of_news_s = 2;

std::unique_ptr<Timekeeper> make_timekeeper(const ProcessOptions& options, ScenarioClock& clock,
                                            ScenarioTimers& timers) {
    if (options.pace == Pace::steps)
        return std::make_unique<PacedTime>(clock, timers, options.typical_step_s);
    return std::make_unique<RealTime>(clock, timers, options.speed);
}

}  // namespace

GroupDriver::GroupDriver(std::unique_ptr<cluster::Launcher> launcher, ProcessOptions options,
                         Recorder& recorder, GroupSession& session)
    : options_(std::move(options)),
      recorder_(recorder),
      session_(session),
      supervisor_(std::move(launcher), options_.supervisor),
      timers_(clock_, supervisor_),
      time_(make_timekeeper(options_, clock_, timers_)),
      faults_(
          options_.faults, supervisor_, clock_,
          {.spawn = [this](const Fault&, bool) { return spawn(); },
           .strikes = [this](const Fault& fault, WorkerId worker,
                             std::string_view means) { on_fault(fault, worker, means); },
           .at = [this](double t_s,
                        std::function<void()> what) { timers_.at(t_s, std::move(what)); },
           .now = [this] { return now(); },
           .target = [](const Fault& fault) { return fault.rank; },
           .is_target = [](const Fault& fault, WorkerId worker) { return fault.rank == worker; },
           .resume =
               [this](WorkerId worker) {
                   send(worker, {{"type", "continue"}});
               },
           .inject = [this](const json& message, WorkerId worker) { send(worker, message); },
           .pace = options_.pace != Pace::real
                       ? [this](WorkerId worker, double factor) { slow(worker, factor); }
                       : std::function<void(WorkerId, double)>{}}),
      suspicion_(options_.supervisor.heartbeat_timeout.count() + longest_way_of_news_s) {}

void GroupDriver::run(int workers) {
    measure::require_room_for_workers(workers);
    initial_workers_ = workers;
    for (int i = 0; i < workers; ++i) spawn();
    while (!ending_) {
        if (const auto event = supervisor_.next(Seconds(1)))
            std::visit([this](const auto& e) { handle(e); }, *event);
        run_clock_again();
        end_if_none_can_come();
    }
}

bool GroupDriver::hear_until(double seconds, const std::function<bool()>& done) {
    const double deadline = cluster::monotonic_s() + seconds;
    while (!done()) {
        if (cluster::monotonic_s() >= deadline) return false;
        const auto event = supervisor_.next(Seconds(0.1));
        if (!event) continue;
        if (const auto* interrupted = std::get_if<cluster::Interrupted>(&*event))
            handle(*interrupted);
        if (const auto* death = std::get_if<cluster::WorkerDied>(&*event)) record_death(*death);
        if (const auto* message = std::get_if<cluster::WorkerMessage>(&*event))
            session_.said(message->worker, message->body);
    }
    return true;
}

WorkerId GroupDriver::spawn() {
    // Ids are handed out in order; the worker's fault points are part of its configuration.
    const WorkerId expected = next_worker_++;
    json config = session_.configuration(expected);
    config["heartbeat_s"] = options_.supervisor.heartbeat_interval.count();
    config["timeout_s"] = options_.operation_timeout_s;
    config["points"] = faults_.points_for(expected);
    const auto worker = supervisor_.spawn(config);
    if (worker != expected) throw std::logic_error("worker ids are not consecutive");
    return worker;
}

bool GroupDriver::is_member(WorkerId worker) const {
    return !epoch_ || std::find(members_.begin(), members_.end(), worker) != members_.end();
}

void GroupDriver::dismiss(WorkerId worker, const json& message) {
    dismissed_.insert(worker);
    std::erase(members_, worker);
    time_->gone(worker);
    faults_.on_gone(worker);
    suspect(Suspicion::Left{worker});
    supervisor_.send(worker, message);
}

void GroupDriver::evict(const Evict& evict) {
    recorder_.event("evict", now(), evict.worker, {{"why", evict.why}});
    // Its death may be known here, and the policy not told of it yet.
    if (!alive(evict.worker)) return;
    injected_.insert_or_assign(evict.worker, cluster::monotonic_s());
    time_->hold();
    unresolved_.insert(evict.worker);
    supervisor_.kill(evict.worker);
}

// ---- groups -------------------------------------------------------------------------------------

void GroupDriver::group_forms(Epoch epoch, const std::vector<WorkerId>& members) {
    time_->hold();
    epoch_ = epoch;
    members_ = members;
    forming_ = true;
    suspect(Suspicion::GroupForms{epoch, members});
    recoveries_.on_plan(epoch);
    faults_.on_members(members_);
}

void GroupDriver::group_works(double t_s) {
    faults_.on_members(members_);
    lost_a_member_ = false;
    recoveries_.on_go(t_s);
    if (!begun_) begin();
}

void GroupDriver::begin() {
    begun_ = true;
    time_->begin();
    if (options_.duration_s > 0)
        timers_.at(options_.duration_s, [this] {
            time_is_up_ = true;
            session_.time_is_up();
        });
    faults_.begin();
}

// ---- what happens -------------------------------------------------------------------------------

void GroupDriver::handle(const cluster::Interrupted& interrupted) {
    throw SampleError(SampleStatus::interrupted, interrupted.why);
}

void GroupDriver::handle(const cluster::TimerFired& timer) {
    if (timers_.on_timer(timer.id) || faults_.on_timer(timer.id)) return;
    if (const auto back = overdue_.extract(timer.id)) unresolved_.erase(back.mapped());
    if (const auto own = suspicion_timers_.extract(timer.id)) suspect(Timer{own.mapped()});
}

void GroupDriver::handle(const cluster::WorkerDied& death) {
    record_death(death);
    unresolved_.erase(death.worker);
    time_->gone(death.worker);
    if (dismissed_.contains(death.worker)) return;
    if (is_member(death.worker)) {
        time_->hold();
        lost_a_member_ = true;
        suspect(Died{death.worker});
        const double ago = supervisor_.now_s() - death.detected_s;
        recoveries_.on_death(death.worker, clock_.at_reading(cluster::monotonic_s() - ago));
    }
    faults_.on_gone(death.worker);
    session_.died(death.worker);
    look_around();
}

void GroupDriver::record_death(const cluster::WorkerDied& death) {
    recorder_.event("death", now(), death.worker, {{"how", death.how}});
    const auto injected = injected_.find(death.worker);
    if (injected != injected_.end())
        detections_real_s_.push_back(cluster::monotonic_s() - injected->second);
    else if (!dismissed_.contains(death.worker))
        unexpected_death_ = fmt::format("worker {}: {}", death.worker, death.how);
}

void GroupDriver::handle(const cluster::WorkerMessage& message) {
    const auto& body = message.body;
    const WorkerId worker = message.worker;
    const std::string type = body.at("type");
    if (type == "joined") {
        on_joined(worker);
    } else if (type == "leave_requested") {
        recorder_.event("leave", now(), worker, json::object());
        faults_.on_leave_requested(worker);
        session_.leave_requested(worker);
        look_around();
    } else if (type == "broken") {
        on_broken(worker, body);
    } else if (type == "at_point") {
        faults_.on_point(worker, body.at("phase"), body.at("step"));
    } else if (type == "struck") {
        faults_.on_struck(body.at("index"), worker);
    } else {
        session_.said(worker, body);
    }
}

void GroupDriver::on_joined(WorkerId worker) {
    recorder_.event("join", now(), worker, json::object());
    if (worker >= initial_workers_) ++joins_;
    faults_.on_joined(worker);
    joined_.push_back(worker);
    look_around();
}

void GroupDriver::look_around() {
    if (awaits_a_worker()) return;
    announce_joined();
    session_.settled();
}

// Those who come at one moment are told of together, whichever process was the fastest to start.
void GroupDriver::announce_joined() {
    auto joined = std::move(joined_);
    joined_.clear();
    std::sort(joined.begin(), joined.end());
    for (const WorkerId& worker : joined) session_.joined(worker, &worker != &joined.back());
}

void GroupDriver::on_broken(WorkerId worker, const json& body) {
    const double t = clock_.at_reading(body.at("clock_s").get<double>());
    const Epoch epoch = body.at("epoch");
    recorder_.event("detection", t, worker, {{"why", body.at("why")}});
    recoveries_.on_broken(epoch, t);
    suspect(Suspicion::GroupBroke{.reporter = worker,
                                  .epoch = epoch,
                                  .cause = body.at("cause").get<Suspicion::Cause>(),
                                  .suspect = body.at("suspect"),
                                  .why = body.at("why")});
    if (suspicion_.broken()) time_->hold();  // what follows is real machinery at work
}

// ---- who is to blame ----------------------------------------------------------------------------

void GroupDriver::suspect(const Suspicion::Event& event) {
    std::vector<Suspicion::Action> actions;
    suspicion_.on(event, now(), actions);
    for (const auto& action : actions) std::visit([this](const auto& one) { act(one); }, action);
}

// Of the machine's clock, as deaths are noticed by it.
void GroupDriver::act(const StartTimer& timer) {
    suspicion_timers_[supervisor_.start_timer(Seconds(timer.after_s))] = timer.id;
}

void GroupDriver::act(const Suspicion::Blame& blame) {
    if (!begun_ && blame.cause == Suspicion::Cause::unexplained)
        return session_.failed(
            fmt::format("the workers cannot form a group on 127.0.0.1 ({}); is the loopback "
                        "interface up, and are there free ports?",
                        blame.why));
    session_.blamed(blame);
}

}  // namespace assay::drive
