#include "impls/lazarus/live/pacing.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace assay::lazarus {
namespace {

// A real step of a few dozen milliseconds before any has been measured.
constexpr double first_step_s = 0.4;
constexpr double room = 1.25, least_step_s = 0.004;
constexpr double idle_speed = 2000;
constexpr double longest_wait_s = 0.15;  // real seconds of a modelled recovery
constexpr std::size_t remembered_steps = 8;
// The first steps build their buffers and find the caches cold.
constexpr long warm_up_steps = 2;

}  // namespace

PacedTime::PacedTime(const PacingOptions& options, ScenarioClock& clock, ScenarioTimers& timers)
    : options_(options),
      costs_(cluster_profile(options.modelling.cluster)),
      clock_(clock),
      timers_(timers) {
    clock_.freeze();
}

void PacedTime::planned(const Reconfigure& plan, bool after_death) {
    clock_.freeze();
    pauses_.end_at(clock_.now());
    restart_ = plan.restore_step.has_value();
    planned_ = restart_ && !after_death && stall_s_ > 0;
    cost_ = plan.epoch == 1 ? ReconfigurationCost{}
                            : reconfiguration_cost(costs_, options_.modelling, plan, after_death,
                                                   options_.relaunch_s);
}

double PacedTime::regrouped() {
    clock_.run();
    // A planned restart begins where the step ended: how long the machine took to write the files
    // says nothing. Else now; but a step that was rolled forward may have ended a little later.
    const double from = planned_ ? end_s_ : std::max(clock_.now(), end_s_);
    const double written = from + stall_s_;
    const double ready = written + cost_.total();
    pauses_.add(Pause::checkpoint, from, written);
    pauses_.add(restart_ ? Pause::restart : Pause::reconfiguration, written, ready);
    stall_s_ = 0;
    cost_ = {};
    wait_faster(ready);
    return ready;
}

void PacedTime::idle() {
    if (clock_.speed() >= idle_speed) return;
    clock_.set_speed(idle_speed);
    timers_.rearm();
}

// Nothing real is going on: the wait needs no more than a moment.
void PacedTime::wait_faster(double until_s) {
    clock_.set_speed(std::max(clock_.speed(), (until_s - clock_.now()) / longest_wait_s));
    timers_.rearm();
}

void PacedTime::disturbed_until(Worker worker, double t_s) {
    auto& until = disturbed_until_[worker];
    until = std::max(until, t_s);
}

nlohmann::json PacedTime::begin_step(double start_s, const std::vector<Worker>& training) {
    adapt_speed();
    start_s_ = start_s;
    modelled_s_ = 0;
    least_work_s_ = -1;
    std::vector<double> slowdowns;
    for (Worker worker : training) {
        const auto found = slowdowns_.find(worker);
        slowdowns.push_back(found == slowdowns_.end() ? 1 : found->second);
    }
    return {{"start_s", clock_.real_of(start_s)},
            {"speed", clock_.speed()},
            {"slowdowns", std::move(slowdowns)}};
}

void PacedTime::adapt_speed() {
    const double modelled = modelled_s_ > 0 ? modelled_s_ : options_.modelling.modelled_steps;
    const double work =
        work_s_.empty() ? first_step_s : *std::max_element(work_s_.begin(), work_s_.end());
    clock_.set_speed(modelled / std::max(least_step_s, room * work));
    summary_.speeds.push_back(clock_.speed());
    timers_.rearm();
}

void PacedTime::step_done(const nlohmann::json& message) {
    modelled_s_ = message.at("modelled_s");
    // Who waits for a slower peer does no work; the busiest waited least inside the collectives.
    const double work = message.at("work_s");
    least_work_s_ = least_work_s_ < 0 ? work : std::min(least_work_s_, work);
}

double PacedTime::commit() {
    work_s_.push_back(least_work_s_);
    if (work_s_.size() > remembered_steps) work_s_.pop_front();
    end_s_ = step_end();
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

double PacedTime::next_start() {
    const double start = end_s_ + stall_s_;
    pauses_.add(Pause::checkpoint, end_s_, start);
    if (stall_s_ > 0) wait_faster(start);
    stall_s_ = 0;
    return start;
}

// ---- a worker's steps ---------------------------------------------------------------------------

void StepPacing::begin(const nlohmann::json& go, const Reconfigure& plan, int rank) {
    rank_ = rank;
    timeline_.emplace(costs_, modelling_,
                      StepParticipants{plan.training, go.at("slowdowns").get<std::vector<double>>(),
                                       plan.holders});
    pacer_.emplace(go.at("speed").get<double>());
    pacer_->start(go.at("start_s").get<double>());
    begun_s_ = cluster::monotonic_s();
    held_s_ = 0;
}

void StepPacing::hold_until(double offset_s) {
    const double before = cluster::monotonic_s();
    pacer_->hold_until(offset_s);
    held_s_ += cluster::monotonic_s() - before;
}

void StepPacing::done(StepHooks::Phase phase, int layer) {
    using Phase = StepHooks::Phase;
    switch (phase) {
        case Phase::attention:
            return hold_until(timeline_->attention_done(layer, rank_));
        case Phase::dispatched:
            return hold_until(timeline_->dispatched(layer));
        case Phase::computed:
            return hold_until(timeline_->computed(layer, rank_));
        case Phase::combined:
            return hold_until(timeline_->combined(layer));
        case Phase::forward:
            return hold_until(timeline_->forward_done());
        case Phase::backward:
            return hold_until(timeline_->backward_done());
        case Phase::reduced:  // the session holds the commit
            return;
    }
}

void StepPacing::report(nlohmann::json& step_done, double link_held_s) const {
    step_done["modelled_s"] = timeline_->total();
    step_done["work_s"] = cluster::monotonic_s() - begun_s_ - held_s_ - link_held_s;
}

}  // namespace assay::lazarus
