// What the controller asks for, done.
#include <fmt/format.h>

#include <algorithm>

#include "impls/lazarus/live/messages.hpp"
#include "impls/lazarus/live/session.hpp"
#include "suite/cluster/pacer.hpp"

namespace assay::lazarus {

using nlohmann::json;

// The running step, or the one about to begin, is over or will never be.
void Session::forget_step() {
    for (auto* timer : {&go_timer_, &end_timer_}) {
        if (*timer) timers_.cancel(**timer);
        timer->reset();
    }
}

void Session::act(const Reconfigure& plan) {
    forget_broken_group();
    forget_step();
    if (pacing_) pacing_->planned(plan, death_in_epoch_);
    members_ = plan.members;
    training_ = plan.training;
    epoch_ = plan.epoch;
    epoch_started_ = now();
    epoch_started_real_s_ = cluster::monotonic_s();
    forming_ = {.after_death = death_in_epoch_,
                .restart = plan.restore_step.has_value(),
                .transfers = static_cast<long>(plan.transfers.size()),
                .real_s = 0,
                .cost = {}};
    why_ = plan.why;
    recoveries_.on_plan(plan.epoch);
    if (plan.restore_step && plan.epoch > 1) retention_.forget_after(*plan.restore_step);
    faults_.on_members(members_);
    supervisor_.send(plan.members, to_message(plan));
}

void Session::act(const Go& go) {
    std::erase_if(members_, [this](Worker w) { return dismissed_.contains(w); });
    faults_.on_members(members_);
    double start = now();
    if (epoch_started_) {
        forming_.real_s = cluster::monotonic_s() - epoch_started_real_s_;
        if (pacing_) forming_.cost = pacing_->cost();
        if (training_started_) result_.reconfigurations.push_back(forming_);
        // A planned one that a death interrupted loses no step: no return either.
        const RestartReason reason = controller_.restart_reason();
        if (forming_.restart && forming_.after_death && reason != RestartReason::planned)
            result_.restarts.push_back(*epoch_started_);
        if (pacing_) start = pacing_->regrouped();
        death_in_epoch_ = false;
        if (!training_started_) {
            training_started_ = true;
            start = 0;
            if (pacing_ && pacing_->options().duration_s > 0)
                timers_.at(pacing_->options().duration_s, [this] { time_is_up(); });
            if (!pacing_) result_.first_go_s = now();
            faults_.training_started();
        }
        const bool restart = forming_.restart && go.epoch > 1;
        json detail{{"epoch", go.epoch},
                    {"step", go.step},
                    {"why", why_},
                    {"members", members_.size()},
                    {"seconds", start - *epoch_started_}};
        if (restart) detail["reason"] = to_string(reason);
        recorder_.event(restart ? "restart" : "regroup", restart ? *epoch_started_ : now(), -1,
                        detail);
        epoch_started_.reset();
        recoveries_.on_go(start);
        result_.workers.emplace_back(start, static_cast<int>(training_.size()));
    } else if (pacing_) {
        start = pacing_->next_start();
    }
    if (pacing_ && start > now() + 1e-6) {
        go_timer_ = timers_.at(start, [this, go, start] {
            go_timer_.reset();
            send_go(go, start);
        });
        return;
    }
    send_go(go, start);
}

void Session::send_go(const Go& go, double start_s) {
    faults_.on_go(go.step);
    step_started_ = start_s;
    auto message = to_message(go);
    if (pacing_) message.update(pacing_->begin_step(start_s, training_));
    supervisor_.send(members_, message);
}

void Session::act(const Commit& commit) {
    supervisor_.send(members_, to_message(commit));
    const double end = pacing_ ? pacing_->commit() : now();
    result_.steps.push_back({commit.step, step_started_, end, static_cast<int>(training_.size()),
                             losses_[commit.step]});
    for (auto& disturbance : open_disturbances_) {
        disturbance.first_step_s = end;
        result_.disturbances.push_back(disturbance);
    }
    open_disturbances_.clear();
    const auto& duration = pacing_ ? pacing_->options().duration_s : 0;
    const auto done = duration > 0 ? end / duration
                                   : static_cast<double>(commit.step + 1) /
                                         static_cast<double>(options_.controller.steps);
    recorder_.progress(std::min(1.0, done),
                       fmt::format("step {}, {} workers", commit.step + 1, training_.size()));
    // By the training's time: the clock runs on while real work is late.
    if (duration > 0 && end >= duration) end_of_time();
}

void Session::act(const WriteCheckpoint& checkpoint) {
    if (pacing_) pacing_->checkpoint();
    recorder_.event("checkpoint", now(), -1, {{"step", checkpoint.step}});
    std::set<Worker> writers;
    for (Worker worker : members_) {
        const auto message = to_message(checkpoint, worker);
        if (message.at("blocks").empty()) continue;
        supervisor_.send(worker, message);
        writers.insert(worker);
    }
    retention_.ordered(checkpoint.step, std::move(writers));
}

void Session::act(const Abort& abort) {
    forget_step();
    supervisor_.send(members_, to_message(abort));
}

void Session::act(const Evict& evict) {
    recorder_.event("evict", now(), evict.worker, {{"why", evict.why}});
    if (pacing_) clock_.freeze();
    injected_.insert_or_assign(evict.worker, cluster::monotonic_s());
    unresolved_.insert(evict.worker);
    supervisor_.kill(evict.worker);
}

void Session::act(const Dismiss& dismiss) {
    dismissed_.insert(dismiss.worker);
    if (pacing_) pacing_->gone(dismiss.worker);
    faults_.on_gone(dismiss.worker);
    supervisor_.send(dismiss.worker, {{"type", "dismiss"}});
}

void Session::act(const StartTimer& timer) {
    timers_.after(timer.after_s, [this, id = timer.id] { decide(Timer{id}); });
}

void Session::act(const Stop& stop) {
    ending_ = true;
    result_.ok = stop.ok;
    result_.why = stop.why;
    if (!stop.ok && !unexpected_death_.empty())
        result_.why += fmt::format(" (nobody asked for the end of {})", unexpected_death_);
}

}  // namespace assay::lazarus
