// What the controller asks for, done.
#include <fmt/format.h>

#include <algorithm>

#include "impls/lazarus/live/messages.hpp"
#include "impls/lazarus/live/session.hpp"
#include "suite/cluster/pacer.hpp"

namespace assay::lazarus {

// The running step, the one about to begin, or the group that forms, is over or will never be.
void Session::forget_what_was_due() {
    for (auto* timer : {&ready_timer_, &go_timer_, &end_timer_}) {
        if (*timer) driver_.timers().cancel(**timer);
        timer->reset();
    }
    ready_.clear();
}

void Session::act(const Reconfigure& plan) {
    forget_what_was_due();
    driver_.group_forms(plan.epoch, plan.members);
    members_ = plan.members;
    training_ = plan.training;
    epoch_ = plan.epoch;
    epoch_started_ = now();
    epoch_started_real_s_ = cluster::monotonic_s();
    const bool after_death = driver_.lost_a_member();
    if (after_death) result_.pauses.end_at(now());
    forming_ = {.after_death = after_death,
                .restart = plan.restore_step.has_value(),
                .transfers = static_cast<long>(plan.transfers.size()),
                .real_s = 0,
                .cost = costs_.reconfiguration(plan, after_death)};
    why_ = plan.why;
    if (plan.restore_step && plan.epoch > 1) retention_.forget_after(*plan.restore_step);
    driver_.send(plan.members, to_message(plan));
}

void Session::act(const Go& go) {
    const double start = epoch_started_ ? group_goes(go) : driver_.time().next_start();
    if (start <= now() + 1e-6) return send_go(go, start);
    go_timer_ = driver_.timers().at(start, [this, go, start] {
        go_timer_.reset();
        send_go(go, start);
    });
}

// The first step of a new plan. Returns when it begins.
double Session::group_goes(const Go& go) {
    if (driver_.begun()) result_.reconfigurations.push_back(forming_);
    const double start = ready_s_;  // a timer comes a little later
    driver_.group_works(start);
    record_group({.epoch = go.epoch,
                  .step = go.step,
                  .restored = forming_.restart,
                  .after_death = forming_.after_death,
                  .reason = controller_->restart_reason(),
                  .why = why_,
                  .members = members_.size(),
                  .training = static_cast<int>(training_.size()),
                  .since_s = *epoch_started_,
                  .ready_s = start},
                 result_, recorder_);
    epoch_started_.reset();
    return start;
}

void Session::send_go(const Go& go, double start_s) {
    driver_.step_begins(go.step);
    step_started_ = start_s;
    checkpoint_since_step_ = false;
    auto message = to_message(go);
    message.update(driver_.time().begin_step(start_s, training_));
    driver_.send(members_, message);
}

void Session::act(const Commit& commit) {
    driver_.send(members_, to_message(commit));
    const double end = driver_.time().end_step();
    result_.steps.push_back({commit.step, step_started_, end, static_cast<int>(training_.size()),
                             losses_[commit.step]});
    for (auto& disturbance : open_disturbances_) {
        disturbance.first_step_s = end;
        result_.disturbances.push_back(disturbance);
    }
    open_disturbances_.clear();
    const double duration = options_.duration_s;
    const auto done = duration > 0 ? end / duration
                                   : static_cast<double>(commit.step + 1) /
                                         static_cast<double>(options_.controller.steps);
    recorder_.progress(std::min(1.0, done),
                       fmt::format("step {}, {} workers", commit.step + 1, training_.size()));
    // By the training's time: the clock runs on while real work is late.
    if (duration > 0 && end >= duration) end_of_time();
}

void Session::act(const WriteCheckpoint& checkpoint) {
    recorder_.event("checkpoint", now(), -1, {{"step", checkpoint.step}});
    std::set<Worker> writers;
    for (Worker worker : members_) {
        const auto message = to_message(checkpoint, worker);
        if (message.at("blocks").empty()) continue;
        driver_.send(worker, message);
        writers.insert(worker);
    }
    retention_.ordered(checkpoint.step, std::move(writers));
    checkpoint_since_step_ = true;
    const auto pause = driver_.time().checkpoint(costs_.checkpoint_s());
    result_.pauses.add(Pause::checkpoint, pause.from_s, pause.to_s);
    durable_[checkpoint.step] = pause.to_s;
}

void Session::act(const Abort& abort) {
    result_.pauses.end_at(now());
    forget_what_was_due();
    driver_.send(members_, to_message(abort));
}

void Session::act(const Dismiss& dismiss) {
    std::erase(members_, dismiss.worker);
    driver_.dismiss(dismiss.worker, {{"type", "dismiss"}});
}

void Session::act(const StartTimer& timer) {
    driver_.timers().after(timer.after_s, [this, id = timer.id] { decide(Timer{id}); });
}

void Session::act(const Stop& stop) {
    driver_.end();
    result_.ok = stop.ok;
    result_.why = stop.why;
    if (!stop.ok && !driver_.unexpected_death().empty())
        result_.why += fmt::format(" (nobody asked for the end of {})", driver_.unexpected_death());
}

}  // namespace assay::lazarus
