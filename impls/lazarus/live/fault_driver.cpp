#include "impls/lazarus/live/fault_driver.hpp"

namespace assay::lazarus {

using cluster::Seconds;

FaultDriver::FaultDriver(FaultPlan plan, cluster::Supervisor& supervisor,
                         std::function<Worker()> spawn, Struck struck)
    : plan_(std::move(plan)),
      supervisor_(supervisor),
      spawn_(std::move(spawn)),
      struck_(std::move(struck)),
      done_(plan_.faults.size(), false) {}

nlohmann::json FaultDriver::points_for(Worker worker) const {
    auto points = nlohmann::json::array();
    for (const auto& fault : plan_.faults)
        if (fault.kind != FaultKind::join && fault.rank == worker && fault.step)
            points.push_back({{"phase", phase_of(fault)}, {"step", *fault.step}});
    return points;
}

void FaultDriver::training_started() {
    for (std::size_t i = 0; i < plan_.faults.size(); ++i)
        if (plan_.faults[i].t_s)
            timers_[supervisor_.start_timer(Seconds(*plan_.faults[i].t_s))] = i;
}

bool FaultDriver::on_timer(std::uint64_t timer) {
    if (const auto group = patience_.extract(timer)) {
        strike_those_waiting(group.mapped());
        return true;
    }
    const auto found = timers_.extract(timer);
    if (!found) return false;
    if (!done_[found.mapped()]) strike(found.mapped(), /*release=*/false);
    return true;
}

void FaultDriver::on_members(const std::vector<Worker>& members) {
    members_ = {members.begin(), members.end()};
}

void FaultDriver::on_go(Step step) {
    for (std::size_t i = 0; i < plan_.faults.size(); ++i) {
        const auto& fault = plan_.faults[i];
        if (!done_[i] && fault.kind == FaultKind::join && fault.step && *fault.step <= step)
            strike(i, false);
    }
}

void FaultDriver::on_point(Worker worker, const std::string& phase, Step step) {
    for (std::size_t i = 0; i < plan_.faults.size(); ++i) {
        const auto& fault = plan_.faults[i];
        const bool here = !done_[i] && !waiting_.contains(i) && fault.rank == worker &&
                          fault.step && phase_of(fault) == phase &&
                          (phase == "step" ? *fault.step == step : *fault.step <= step);
        if (!here) continue;
        const Point point{phase, *fault.step};
        waiting_[i] = worker;
        patience_[supervisor_.start_timer(patience)] = point;
        strike_when_complete(point);
        return;
    }
    supervisor_.send(worker, {{"type", "continue"}});
}

void FaultDriver::on_joined(Worker worker) {
    present_.insert(worker);
    awaited_.erase(worker);
}

void FaultDriver::on_leave_requested(Worker worker) { awaited_.erase(worker); }

void FaultDriver::on_gone(Worker worker) {
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
    if (fault.kind == FaultKind::join) {
        ++fired_;
        for (int i = 0; i < fault.count; ++i) {
            const auto worker = spawn_();
            if (fault.step) awaited_.insert(worker);
            struck_(fault, worker);
        }
        return;
    }
    const Worker worker = *fault.rank;
    if (!present_.contains(worker)) return;
    ++fired_;
    struck_(fault, worker);
    if (fault.kind == FaultKind::kill) supervisor_.kill(worker);
    if (fault.kind == FaultKind::stop) {
        if (fault.step) awaited_.insert(worker);
        supervisor_.stop(worker);
    }
    if (fault.kind == FaultKind::hang) {
        supervisor_.hang(worker, fault.for_s ? std::optional(Seconds(*fault.for_s)) : std::nullopt);
    }
    // A hung worker reads this when it is continued.
    if (release && fault.kind != FaultKind::kill) supervisor_.send(worker, {{"type", "continue"}});
}

}  // namespace assay::lazarus
