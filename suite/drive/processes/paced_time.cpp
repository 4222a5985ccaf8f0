#include "suite/drive/processes/paced_time.hpp"

#include <algorithm>

namespace assay::drive {
namespace {

// A real step of a few dozen milliseconds before any has been measured.
constexpr double first_step_s = 0.4;
constexpr double room = 1.25, least_step_s = 0.004;
constexpr double idle_speed = 2000;
constexpr double longest_wait_s = 0.15;  // real seconds of a modelled pause
constexpr std::size_t remembered_steps = 8;
// The first steps build their buffers and find the caches cold.
constexpr long warm_up_steps = 2;

}  // namespace

RealTime::RealTime(ScenarioClock& clock, ScenarioTimers& timers, double speed)
    : clock_(clock), timers_(timers) {
    clock_.freeze();
    clock_.set_speed(speed);
}

void RealTime::begin() {
    clock_.run();
    timers_.rearm();
}

PacedTime::PacedTime(ScenarioClock& clock, ScenarioTimers& timers, double typical_step_s)
    : clock_(clock), timers_(timers), typical_step_s_(typical_step_s) {
    clock_.freeze();
}

void PacedTime::begin() { go_on(); }

void PacedTime::go_on() {
    clock_.run();
    timers_.rearm();
}

void PacedTime::idle() {
    if (clock_.frozen() || clock_.speed() >= idle_speed) return;
    clock_.set_speed(idle_speed);
    timers_.rearm();
}

// Nothing real is going on: the wait needs no more than a moment.
void PacedTime::wait_faster(double until_s) {
    clock_.set_speed(std::max(clock_.speed(), (until_s - clock_.now()) / longest_wait_s));
    timers_.rearm();
}

// ---- pauses -------------------------------------------------------------------------------------

Timekeeper::Pause PacedTime::checkpoint(double cost_s) {
    free_s_ = end_s_ + cost_s;
    wait_faster(free_s_);
    return {end_s_, free_s_};
}

Timekeeper::Pause PacedTime::regroup(double since_s, double detect_s, double cost_s, bool planned) {
    go_on();
    // A step that was rolled forward may have ended a little later than the loss.
    double from = std::max(since_s, end_s_);
    // Who is writing a checkpoint finishes that first.
    if (detect_s == 0) from = std::max(from, free_s_);
    // How long the machine took to write the files says nothing.
    if (planned) from = free_s_;
    const double ready = std::max(from + detect_s, free_s_) + cost_s;
    wait_faster(ready);
    return {from, ready};
}

// ---- steps --------------------------------------------------------------------------------------

double PacedTime::next_start() { return std::max(end_s_, free_s_); }

nlohmann::json PacedTime::begin_step(double start_s, const std::vector<WorkerId>& training) {
    adapt_speed();
    start_s_ = start_s;
    modelled_s_ = 0;
    least_work_s_ = -1;
    std::vector<double> slowdowns;
    for (WorkerId worker : training) {
        const auto found = slowdowns_.find(worker);
        slowdowns.push_back(found == slowdowns_.end() ? 1 : found->second);
    }
    return {{"start_s", clock_.real_of(start_s)},
            {"speed", clock_.speed()},
            {"slowdowns", std::move(slowdowns)}};
}

void PacedTime::adapt_speed() {
    const double modelled = modelled_s_ > 0 ? modelled_s_ : typical_step_s_;
    const double work =
        work_s_.empty() ? first_step_s : *std::max_element(work_s_.begin(), work_s_.end());
    clock_.set_speed(modelled / std::max(least_step_s, room * work));
    summary_.speeds.push_back(clock_.speed());
    timers_.rearm();
}

std::optional<double> PacedTime::step_done(const nlohmann::json& message) {
    modelled_s_ = message.at("modelled_s");
    // Who waits for a slower peer does no work; the busiest waited least inside the collectives.
    const double work = message.at("work_s");
    least_work_s_ = least_work_s_ < 0 ? work : std::min(least_work_s_, work);
    const double end = start_s_ + modelled_s_;
    return end > clock_.now() ? std::optional(end) : std::nullopt;
}

double PacedTime::end_step() {
    work_s_.push_back(least_work_s_);
    if (work_s_.size() > remembered_steps) work_s_.pop_front();
    end_s_ = start_s_ + modelled_s_;
    const double late = std::max(0.0, clock_.now() - end_s_);
    ++summary_.steps;
    const bool disturbed = std::any_of(disturbed_until_.begin(), disturbed_until_.end(),
                                       [&](const auto& one) { return start_s_ < one.second; });
    if (disturbed) {
        end_s_ += late;
    } else if (summary_.steps > warm_up_steps) {
        summary_.step_s += modelled_s_;
        summary_.late_s += late;
    }
    return end_s_;
}

// ---- faults -------------------------------------------------------------------------------------

void PacedTime::disturbed_until(WorkerId worker, double t_s) {
    auto& until = disturbed_until_[worker];
    until = std::max(until, t_s);
}

// ---- a worker's steps ---------------------------------------------------------------------------

void PacedStep::begin(const nlohmann::json& go) {
    pacer_.reset();
    slowdowns_.clear();
    begun_s_ = cluster::monotonic_s();
    held_s_ = 0;
    if (!go.contains("speed")) return;
    slowdowns_ = go.at("slowdowns").get<std::vector<double>>();
    pacer_.emplace(go.at("speed").get<double>());
    pacer_->start(go.at("start_s").get<double>());
}

void PacedStep::hold_until(double offset_s) {
    if (!pacer_) return;
    const double before = cluster::monotonic_s();
    pacer_->hold_until(offset_s);
    held_s_ += cluster::monotonic_s() - before;
}

void PacedStep::report(nlohmann::json& done, double modelled_s, double link_held_s) const {
    done["modelled_s"] = modelled_s;
    done["work_s"] = cluster::monotonic_s() - begun_s_ - held_s_ - link_held_s;
}

}  // namespace assay::drive
