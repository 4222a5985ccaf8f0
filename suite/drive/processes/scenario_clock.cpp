#include "suite/drive/processes/scenario_clock.hpp"

#include <algorithm>

#include "suite/cluster/pacer.hpp"

namespace assay::drive {

ScenarioClock::ScenarioClock() : real_(cluster::monotonic_s()) {}

double ScenarioClock::now() const {
    return frozen_ ? scenario_ : scenario_ + (cluster::monotonic_s() - real_) * speed_;
}

void ScenarioClock::freeze() {
    scenario_ = now();
    real_ = cluster::monotonic_s();
    frozen_ = true;
}

void ScenarioClock::run() {
    if (!frozen_) return;
    frozen_ = false;
    real_ = cluster::monotonic_s();
}

void ScenarioClock::set_speed(double speed) {
    scenario_ = now();
    real_ = cluster::monotonic_s();
    speed_ = speed;
}

double ScenarioClock::real_of(double t_s) const { return real_ + (t_s - scenario_) / speed_; }

double ScenarioClock::at_reading(double reading_s) const {
    return frozen_ ? scenario_ : scenario_ + std::max(0.0, reading_s - real_) * speed_;
}

std::uint64_t ScenarioTimers::at(double t_s, Callback callback) {
    const auto id = ++ids_;
    pending_.emplace(t_s, Pending{id, std::move(callback)});
    rearm();
    return id;
}

void ScenarioTimers::cancel(std::uint64_t id) {
    std::erase_if(pending_, [id](const auto& entry) { return entry.second.id == id; });
    rearm();
}

void ScenarioTimers::rearm() {
    if (armed_) supervisor_.cancel_timer(*armed_);
    armed_.reset();
    if (pending_.empty() || clock_.frozen()) return;
    const double wait = clock_.real_of(pending_.begin()->first) - cluster::monotonic_s();
    armed_ = supervisor_.start_timer(cluster::Seconds(std::max(0.0, wait)));
}

bool ScenarioTimers::on_timer(std::uint64_t supervisor_timer) {
    if (armed_ != supervisor_timer) return false;
    armed_.reset();
    while (!pending_.empty() && !clock_.frozen() &&
           pending_.begin()->first <= clock_.now() + 1e-9) {
        // What is due at one and the same moment happens together, though the first may freeze the
        // clock.
        const double moment = pending_.begin()->first;
        while (!pending_.empty() && pending_.begin()->first == moment) {
            const auto callback = std::move(pending_.begin()->second.callback);
            pending_.erase(pending_.begin());
            callback();
        }
    }
    rearm();
    return true;
}

}  // namespace assay::drive
