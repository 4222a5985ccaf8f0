#include "suite/drive/processes/fault_driver.hpp"

#include <fmt/format.h>

#include "suite/drive/processes/injection.hpp"

namespace assay::drive {

using cluster::Seconds;

FaultDriver::FaultDriver(FaultPlan plan, cluster::Supervisor& supervisor,
                         const ScenarioClock& clock, Hooks hooks)
    : plan_(std::move(plan)),
      supervisor_(supervisor),
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

nlohmann::json FaultDriver::points_for(WorkerId worker) const {
    auto points = nlohmann::json::array();
    for (const auto& fault : plan_.faults)
        if (fault.kind != FaultKind::join && fault.step && hooks_.is_target(fault, worker))
            points.push_back({{"phase", phase_of(fault)}, {"step", *fault.step}});
    return points;
}

void FaultDriver::begin() {
    const double start = hooks_.now();  // one for all: what strikes together is due together
    for (std::size_t i = 0; i < plan_.faults.size(); ++i)
        if (plan_.faults[i].t_s)
            hooks_.at(start + *plan_.faults[i].t_s, [this, i] { strike_at_time(i); });
}

void FaultDriver::strike_at_time(std::size_t index) {
    if (done_[index]) return;
    const Fault& fault = plan_.faults[index];
    if (fault.kind == FaultKind::join) return strike_join(index);
    done_[index] = true;
    if (const auto worker = hooks_.target(fault)) strike(index, *worker, /*release=*/false);
}

void FaultDriver::strike_now(const Fault& fault) {
    plan_.faults.push_back(fault);
    done_.push_back(false);
    strike_at_time(plan_.faults.size() - 1);
}

bool FaultDriver::on_timer(std::uint64_t timer) {
    const auto group = patience_.extract(timer);
    if (!group) return false;
    strike_those_waiting(group.mapped());
    return true;
}

bool FaultDriver::joins_to_come() const {
    for (std::size_t i = 0; i < plan_.faults.size(); ++i)
        if (!done_[i] && plan_.faults[i].kind == FaultKind::join && plan_.faults[i].t_s)
            return true;
    return false;
}

void FaultDriver::on_members(const std::vector<WorkerId>& members) {
    members_ = {members.begin(), members.end()};
}

void FaultDriver::on_step(long step) {
    for (std::size_t i = 0; i < plan_.faults.size(); ++i) {
        const auto& fault = plan_.faults[i];
        if (!done_[i] && fault.kind == FaultKind::join && fault.step && *fault.step <= step)
            strike_join(i);
    }
}

void FaultDriver::on_point(WorkerId worker, const std::string& phase, long step) {
    for (std::size_t i = 0; i < plan_.faults.size(); ++i) {
        const auto& fault = plan_.faults[i];
        const bool here = !done_[i] && !waiting_.contains(i) && fault.step &&
                          hooks_.is_target(fault, worker) && phase_of(fault) == phase &&
                          (is_of_step(phase) ? *fault.step == step : *fault.step <= step);
        if (!here) continue;
        const Point point{phase, *fault.step};
        waiting_[i] = worker;
        patience_[supervisor_.start_timer(patience)] = point;
        strike_when_complete(point);
        return;
    }
    hooks_.resume(worker);
}

void FaultDriver::on_joined(WorkerId worker) {
    present_.insert(worker);
    awaited_.erase(worker);
}

void FaultDriver::on_struck(std::size_t fault, WorkerId worker) {
    if (fault >= plan_.faults.size()) return;
    ++fired_;
    hooks_.strikes(plan_.faults[fault], worker, "");
}

void FaultDriver::on_leave_requested(WorkerId worker) { awaited_.erase(worker); }

void FaultDriver::on_gone(WorkerId worker) {
    present_.erase(worker);
    awaited_.erase(worker);
    std::set<Point> groups;
    for (std::size_t i = 0; i < plan_.faults.size(); ++i) {
        const auto& fault = plan_.faults[i];
        // One that names an instance finds the next worker of that name.
        if (done_[i] || fault.kind == FaultKind::join || !fault.instance.empty() ||
            !hooks_.is_target(fault, worker))
            continue;
        done_[i] = true;
        waiting_.erase(i);
        if (fault.step) groups.insert({std::string(phase_of(fault)), *fault.step});
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
            plan_.faults[i].rank && members_.contains(*plan_.faults[i].rank))
            return;
    }
    strike_those_waiting(point);
}

void FaultDriver::strike_those_waiting(const Point& point) {
    const auto waiting = waiting_;
    for (const auto& [fault, worker] : waiting)
        if (is_at(plan_.faults[fault], point)) strike(fault, worker, /*release=*/true);
}

void FaultDriver::strike_join(std::size_t index) {
    const Fault fault = plan_.faults[index];
    done_[index] = true;
    if (!fault.instance.empty() && hooks_.target(fault)) return;  // its name is held
    ++fired_;
    for (int i = 0; i < fault.count; ++i) {
        const auto worker = hooks_.spawn(fault, i + 1 < fault.count);
        if (fault.step || hooks_.pace) awaited_.insert(worker);
        hooks_.strikes(fault, worker, "");
    }
}

void FaultDriver::strike(std::size_t index, WorkerId worker, bool release) {
    const Fault fault = plan_.faults[index];
    done_[index] = true;
    waiting_.erase(index);
    if (!present_.contains(worker)) return;
    if (struck_by_worker(fault)) {  // counts when it says that it has struck
        inject(index, worker);
    } else {
        ++fired_;
        // Only when a worker has been slowed is it known by what.
        const auto means = fault.kind == FaultKind::slow ? slow_down(index, worker) : "";
        hooks_.strikes(fault, worker, means);
        if (fault.kind == FaultKind::kill) supervisor_.kill(worker);
        if (fault.kind == FaultKind::stop) {
            if (fault.step || hooks_.pace) awaited_.insert(worker);
            supervisor_.stop(worker);
        }
        if (fault.kind == FaultKind::hang) {
            supervisor_.hang(worker, fault.for_s
                                         ? std::optional(Seconds(*fault.for_s / clock_.speed()))
                                         : std::nullopt);
        }
        if (effect_of(fault).place == FaultPlace::links) inject(index, worker);
    }
    // A hung worker reads this when it is continued.
    if (release && fault.kind != FaultKind::kill) hooks_.resume(worker);
}

void FaultDriver::inject(std::size_t index, WorkerId worker) {
    // Real seconds: the transport knows no others.
    Fault fault = plan_.faults[index];
    fault.latency_s /= clock_.speed();
    fault.bandwidth *= clock_.speed();
    if (fault.for_s) fault.for_s = *fault.for_s / clock_.speed();
    hooks_.inject(inject_message(fault, index), worker);
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
    if (fault.for_s)
        hooks_.at(hooks_.now() + *fault.for_s, [this, worker] { hooks_.pace(worker, 1); });
    return "";
}

}  // namespace assay::drive
