#include "suite/drive/processes/fault_driver.hpp"

#include <fmt/format.h>

#include "suite/drive/processes/worker_process.hpp"

namespace assay::drive {

using cluster::Seconds;

namespace {

// What happens inside the worker: it is told to do it to itself.
bool inside_worker(FaultKind kind) {
    return kind == FaultKind::link || kind == FaultKind::corrupt || kind == FaultKind::nan ||
           kind == FaultKind::torn || kind == FaultKind::disk_full;
}

// Counted when the worker says that it has happened: the next checkpoint may be far.
bool told_by_worker(FaultKind kind) {
    return kind == FaultKind::torn || kind == FaultKind::disk_full;
}

}  // namespace

FaultDriver::FaultDriver(FaultPlan plan, cluster::Supervisor& supervisor, ScenarioTimers& timers,
                         const ScenarioClock& clock, Hooks hooks)
    : plan_(std::move(plan)),
      supervisor_(supervisor),
      timers_(timers),
      clock_(clock),
      hooks_(std::move(hooks)),
      done_(plan_.faults.size(), false) {
    check_means_of_slowing();
}

void FaultDriver::check_means_of_slowing() const {
    for (const auto& fault : plan_.faults) {
        if (fault.by.empty()) continue;
        if (hooks_.pace)
            throw UserError(fmt::format(
                "fault '{}': this run is paced, and slow workers are slowed by their modelled "
                "time; leave 'by' out",
                to_string(fault)));
        if (of_word<cluster::SlowMeans>(fault.by) != cluster::SlowMeans::quota) continue;
        if (const auto why = supervisor_.why_no_quota(); !why.empty())
            throw NotSupportedHere(
                fmt::format("fault '{}': there is no quota of processor time here: {}; leave 'by' "
                            "out, or use by=duty_cycle",
                            to_string(fault), why));
    }
}

// Kills and hangs strike in the middle of a step, what happens inside a worker before it begins.
std::string FaultDriver::phase_of(const Fault& fault) {
    if (!fault.phase.empty()) return fault.phase;
    return inside_worker(fault.kind) || fault.kind == FaultKind::slow ? start_point : step_point;
}

nlohmann::json FaultDriver::points_for(WorkerId worker) const {
    auto points = nlohmann::json::array();
    for (const auto& fault : plan_.faults)
        if (fault.kind != FaultKind::join && fault.rank == worker && fault.step)
            points.push_back({{"phase", phase_of(fault)}, {"step", *fault.step}});
    return points;
}

void FaultDriver::begin() {
    const double start = clock_.now();  // one for all: what strikes together is due together
    for (std::size_t i = 0; i < plan_.faults.size(); ++i) {
        if (!plan_.faults[i].t_s) continue;
        timers_.at(start + *plan_.faults[i].t_s, [this, i] {
            if (!done_[i]) strike(i, /*release=*/false);
        });
    }
}

bool FaultDriver::on_timer(std::uint64_t timer) {
    const auto group = patience_.extract(timer);
    if (!group) return false;
    strike_those_waiting(group.mapped());
    return true;
}

bool FaultDriver::expects_joins() const {
    for (std::size_t i = 0; i < plan_.faults.size(); ++i)
        if (!done_[i] && plan_.faults[i].kind == FaultKind::join && plan_.faults[i].t_s)
            return true;
    return holds_commit();
}

void FaultDriver::on_members(const std::vector<WorkerId>& members) {
    members_ = {members.begin(), members.end()};
}

void FaultDriver::on_step(long step) {
    for (std::size_t i = 0; i < plan_.faults.size(); ++i) {
        const auto& fault = plan_.faults[i];
        if (!done_[i] && fault.kind == FaultKind::join && fault.step && *fault.step <= step)
            strike(i, false);
    }
}

void FaultDriver::on_point(WorkerId worker, const std::string& phase, long step) {
    for (std::size_t i = 0; i < plan_.faults.size(); ++i) {
        const auto& fault = plan_.faults[i];
        const bool here = !done_[i] && !waiting_.contains(i) && fault.rank == worker &&
                          fault.step && phase_of(fault) == phase &&
                          (is_of_step(phase) ? *fault.step == step : *fault.step <= step);
        if (!here) continue;
        const Point point{phase, *fault.step};
        waiting_[i] = worker;
        patience_[supervisor_.start_timer(patience)] = point;
        strike_when_complete(point);
        return;
    }
    supervisor_.send(worker, {{"type", "continue"}});
}

void FaultDriver::on_joined(WorkerId worker) {
    present_.insert(worker);
    awaited_.erase(worker);
}

void FaultDriver::on_struck(std::size_t fault) {
    if (fault < plan_.faults.size()) ++fired_;
}

void FaultDriver::on_leave_requested(WorkerId worker) { awaited_.erase(worker); }

void FaultDriver::on_gone(WorkerId worker) {
    present_.erase(worker);
    awaited_.erase(worker);
    std::set<Point> groups;
    for (std::size_t i = 0; i < plan_.faults.size(); ++i) {
        const auto& fault = plan_.faults[i];
        if (done_[i] || fault.kind == FaultKind::join || fault.rank != worker) continue;
        done_[i] = true;
        waiting_.erase(i);
        if (fault.step) groups.insert({phase_of(fault), *fault.step});
    }
    for (const auto& point : groups) strike_when_complete(point);
}

bool FaultDriver::is_at(const Fault& fault, const Point& point) const {
    return fault.kind != FaultKind::join && fault.step == point.second &&
           phase_of(fault) == point.first;
}

void FaultDriver::strike_when_complete(const Point& point) {
    for (std::size_t i = 0; i < plan_.faults.size(); ++i) {
        // A target that cannot come here (a newcomer still outside the group) is not waited for.
        if (!done_[i] && is_at(plan_.faults[i], point) && !waiting_.contains(i) &&
            members_.contains(*plan_.faults[i].rank))
            return;
    }
    strike_those_waiting(point);
}

void FaultDriver::strike_those_waiting(const Point& point) {
    std::vector<std::size_t> group;
    for (const auto& [fault, worker] : waiting_)
        if (is_at(plan_.faults[fault], point)) group.push_back(fault);
    for (auto fault : group) strike(fault, /*release=*/true);
}

void FaultDriver::strike(std::size_t index, bool release) {
    const auto& fault = plan_.faults[index];
    done_[index] = true;
    waiting_.erase(index);
    const bool awaited = fault.step || hooks_.pace;
    if (fault.kind == FaultKind::join) {
        ++fired_;
        for (int i = 0; i < fault.count; ++i) {
            const auto worker = hooks_.spawn();
            if (awaited) awaited_.insert(worker);
            hooks_.strikes(fault, worker, "");
        }
        return;
    }
    const WorkerId worker = *fault.rank;
    if (!present_.contains(worker)) return;
    if (!told_by_worker(fault.kind)) ++fired_;
    // Only when a worker has been slowed is it known by what.
    const auto means = fault.kind == FaultKind::slow ? slow_down(index, worker) : "";
    hooks_.strikes(fault, worker, means);
    if (fault.kind == FaultKind::kill) supervisor_.kill(worker);
    if (fault.kind == FaultKind::stop) {
        if (awaited) awaited_.insert(worker);
        supervisor_.stop(worker);
    }
    if (fault.kind == FaultKind::hang) {
        supervisor_.hang(worker, fault.for_s ? std::optional(Seconds(*fault.for_s / clock_.speed()))
                                             : std::nullopt);
    }
    if (inside_worker(fault.kind)) inject(index, worker);
    // A hung worker reads this when it is continued.
    if (release && fault.kind != FaultKind::kill) supervisor_.send(worker, {{"type", "continue"}});
}

void FaultDriver::inject(std::size_t index, WorkerId worker) {
    // Real seconds: the transport knows no others.
    Fault fault = plan_.faults[index];
    fault.latency_s /= clock_.speed();
    fault.bandwidth *= clock_.speed();
    if (fault.for_s) fault.for_s = *fault.for_s / clock_.speed();
    supervisor_.send(worker, inject_message(fault, index));
}

std::string_view FaultDriver::slow_down(std::size_t index, WorkerId worker) {
    const auto& fault = plan_.faults[index];
    if (!hooks_.pace) {
        const auto used = supervisor_.slow(
            worker, 1 / fault.factor,
            fault.for_s ? std::optional(Seconds(*fault.for_s / clock_.speed())) : std::nullopt,
            of_word<cluster::SlowMeans>(fault.by));
        return used ? to_string(*used) : "";
    }
    hooks_.pace(worker, fault.factor);
    if (fault.for_s) timers_.after(*fault.for_s, [this, worker] { hooks_.pace(worker, 1); });
    return "";
}

}  // namespace assay::drive
