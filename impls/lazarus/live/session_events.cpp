// What happens to a running training, and whom it is passed on to.
#include <fmt/format.h>

#include <algorithm>

#include "impls/lazarus/live/messages.hpp"
#include "impls/lazarus/live/session.hpp"
#include "suite/cluster/pacer.hpp"

namespace assay::lazarus {

using cluster::Seconds;
using nlohmann::json;

namespace {

// Ends its target for good. In scenario time a frozen worker counts as lost once the modelled
// cluster would have noticed.
bool is_fatal(const Fault& fault) {
    return fault.kind == FaultKind::kill || (fault.kind == FaultKind::hang && !fault.for_s);
}

}  // namespace

void Session::handle(const cluster::Interrupted& interrupted) {
    throw SampleError(SampleStatus::interrupted, interrupted.why);
}

void Session::handle(const cluster::TimerFired& timer) {
    if (timers_.on_timer(timer.id) || faults_.on_timer(timer.id)) return;
    if (const auto back = overdue_.extract(timer.id)) unresolved_.erase(back.mapped());
    if (timer.id == suspicion_) act_on_suspicion();
}

void Session::handle(const cluster::WorkerDied& death) {
    record_death(death);
    unresolved_.erase(death.worker);
    if (pacing_) pacing_->gone(death.worker);
    if (dismissed_.contains(death.worker)) return;
    if (is_member(death.worker)) {
        if (paced()) clock_.freeze();
        death_in_epoch_ = true;
        // The supervisor's clock started a little earlier than ours.
        recoveries_.on_death(death.worker,
                             paced() ? now() : death.detected_s + now() - supervisor_.now_s());
    }
    faults_.on_gone(death.worker);
    decide(Died{death.worker});
    announce_joined();
    release_held();
}

void Session::record_death(const cluster::WorkerDied& death) {
    recorder_.event("death", now(), death.worker, {{"how", death.how}});
    const auto injected = injected_.find(death.worker);
    if (injected != injected_.end())
        result_.detections_real_s.push_back(cluster::monotonic_s() - injected->second);
    else if (!dismissed_.contains(death.worker))
        unexpected_death_ = fmt::format("worker {}: {}", death.worker, death.how);
}

void Session::handle(const cluster::WorkerMessage& message) {
    const auto& body = message.body;
    const Worker worker = message.worker;
    const std::string type = body.at("type");
    if (type == "joined") {
        recorder_.event("join", now(), worker, json::object());
        if (worker >= options_.controller.initial_workers) ++result_.joins;
        faults_.on_joined(worker);
        joined_.push_back(worker);
        announce_joined();
        release_held();
    } else if (type == "step_done") {
        on_step_done(worker, body);
    } else if (type == "step_failed") {
        recorder_.event("retry", now(), worker, {{"why", body.at("why")}});
        decide(StepFailed{worker, body.at("epoch"), body.at("step"), body.at("why")});
    } else if (type == "ready") {
        on_ready(worker, body);
    } else if (type == "broken") {
        on_broken(worker, body);
    } else if (type == "at_point") {
        faults_.on_point(worker, body.at("phase"), body.at("step"));
    } else if (type == "struck") {
        faults_.on_struck(body.at("index"));
    } else if (type == "leave_requested") {
        recorder_.event("leave", now(), worker, json::object());
        faults_.on_leave_requested(worker);
        decide(LeaveRequested{worker});
        announce_joined();
        release_held();
    } else if (type == "checkpoint_written") {
        decide(CheckpointWritten{worker, body.at("step")});
        retention_.written(body.at("step"), worker);
    } else if (type == "checkpoint_failed") {
        recorder_.event("checkpoint", now(), worker,
                        {{"step", body.at("step")}, {"failed", body.at("why")}});
    } else if (type == "checkpoint_unreadable") {
        recorder_.event("checkpoint", now(), worker,
                        {{"step", body.at("step")}, {"unreadable", body.at("why")}});
        decide(RestoreFailed{worker, body.at("epoch"), body.at("step"), body.at("why")});
    } else if (type == "digests") {
        result_.digests[worker] = digests_from(body);
    }
}

// Those who come at one moment are told of together, whichever process was the fastest to start.
void Session::announce_joined() {
    if (faults_.holds_commit()) return;
    auto joined = std::move(joined_);
    joined_.clear();
    std::sort(joined.begin(), joined.end());
    for (const Worker& worker : joined) decide(Joined{worker, &worker != &joined.back()});
}

void Session::on_step_done(Worker worker, const json& body) {
    if (body.at("epoch") == epoch_) {
        losses_[body.at("step")] = body.at("loss");
        if (pacing_) {
            pacing_->step_done(body);
            if (!end_timer_ && pacing_->step_end() > now())
                end_timer_ = timers_.at(pacing_->step_end(), [this] {
                    end_timer_.reset();
                    release_held();
                });
        }
    }
    held_.push_back(step_done_from(worker, body));
    release_held();
}

void Session::release_held() {
    while (!held_.empty() && !holds_commit() && !ending_) {
        const auto done = std::move(held_.front());
        held_.pop_front();
        decide(done);
    }
}

void Session::on_ready(Worker worker, const json& body) {
    if (body.at("blocks").get<long>() > 0) {
        recorder_.event("transfer", now(), worker,
                        {{"blocks", body.at("blocks")},
                         {"bytes", body.at("bytes")},
                         {"real_seconds", body.at("transfer_s")}});
    }
    decide(Ready{worker, body.at("epoch")});
}

void Session::on_broken(Worker worker, const json& body) {
    const double t =
        paced() ? now() : now() - (cluster::monotonic_s() - body.at("clock_s").get<double>());
    const Epoch epoch = body.at("epoch");
    recorder_.event("detection", t, worker, {{"why", body.at("why")}});
    recoveries_.on_broken(epoch, t);
    if (epoch != epoch_) return;
    if (paced()) clock_.freeze();  // what follows is real machinery at work
    reporters_.push_back(worker);
    broken_why_ = body.at("why");
    const std::string cause = body.at("cause");
    if (cause == "corrupt_message")
        return report_group_broken(GroupBroken::Cause::corrupt_message, body.at("suspect"),
                                   broken_why_);
    if (cause == "unreachable")
        return report_group_broken(GroupBroken::Cause::unreachable, body.at("suspect"),
                                   broken_why_);
    if (!suspicion_ && broken_reported_ != epoch_)
        suspicion_ = supervisor_.start_timer(options_.supervisor.heartbeat_timeout + Seconds(2));
}

// A group broke and yet nobody died: somebody is stuck, or a connection failed. The members cannot
// mend that among themselves; one has to go as if it had died. Rather one that did not notice, for
// it may be the one that is stuck.
void Session::act_on_suspicion() {
    suspicion_.reset();
    if (!training_started_) {
        return act(
            Stop{false, fmt::format("the workers cannot form a group on 127.0.0.1 ({}); is the "
                                    "loopback interface up, and are there free ports?",
                                    broken_why_)});
    }
    const auto silent = std::find_if(members_.begin(), members_.end(), [this](Worker w) {
        return supervisor_.alive(w) &&
               std::find(reporters_.begin(), reporters_.end(), w) == reporters_.end();
    });
    report_group_broken(GroupBroken::Cause::unreachable,
                        silent != members_.end() ? *silent : reporters_.front(),
                        "its group broke though nobody died");
}

void Session::report_group_broken(GroupBroken::Cause cause, Worker suspect,
                                  const std::string& why) {
    if (broken_reported_ == epoch_) return;
    broken_reported_ = epoch_;
    end_suspicion();
    decide(GroupBroken{epoch_, suspect, cause, why});
}

void Session::end_suspicion() {
    if (suspicion_) supervisor_.cancel_timer(*suspicion_);
    suspicion_.reset();
}

void Session::forget_broken_group() {
    end_suspicion();
    reporters_.clear();
}

void Session::on_fault(const Fault& fault, Worker worker, std::string_view means) {
    json detail{{"kind", to_string(fault.kind)}, {"fault", to_string(fault)}};
    if (!means.empty()) detail["by"] = means;
    recorder_.event("fault", now(), worker, detail);
    if (fault.kind != FaultKind::join) open_disturbances_.push_back({fault.kind, now(), 0});
    if (pacing_) keep_time(fault, worker);
    if (fault.kind != FaultKind::kill && fault.kind != FaultKind::hang) return;
    injected_.insert_or_assign(worker, cluster::monotonic_s());
    if (is_fatal(fault)) unresolved_.insert(worker);
    recoveries_.on_fault(worker, now());
}

// Paced: what follows a loss is real machinery at work, and the clock stands still until it is
// done. What a fault that ends does to the steps until then is modelled time; what one without an
// end does is not.
void Session::keep_time(const Fault& fault, Worker worker) {
    const bool awaited = fault.kind == FaultKind::join || fault.kind == FaultKind::stop;
    const bool link = fault.kind == FaultKind::link, hang = fault.kind == FaultKind::hang;
    const Seconds lasts(fault.for_s.value_or(1e9) / clock_.speed());
    // A worker that nobody hears or reaches for so long is lost: killed, or evicted.
    const Seconds patience =
        hang ? options_.supervisor.heartbeat_timeout : Seconds(options_.operation_timeout_s);
    const bool too_long = !fault.for_s || lasts >= patience;
    const bool cut_off = link && fault.cut && too_long && is_member(worker) &&
                         members_.size() > 1 && (!fault.peer || is_member(*fault.peer));
    const bool lost = fault.kind == FaultKind::kill || (hang && too_long) || cut_off;
    if (awaited || (lost && is_member(worker))) clock_.freeze();
    if (lost) {
        unresolved_.insert(worker);
        // Should it come back just in time, that is an end too.
        if (fault.for_s) overdue_[supervisor_.start_timer(lasts + patience)] = worker;
    } else if ((link || hang) && fault.for_s) {
        pacing_->disturbed_until(worker, now() + *fault.for_s);
    } else if (link) {
        pacing_->link_stays_bad();
    }
}

// Paced: nothing real is going on any more that the clock has to wait for.
void Session::run_clock_again() {
    if (!pacing_ || !clock_.frozen() || !training_started_) return;
    const bool regrouping = epoch_started_ || !reporters_.empty();
    if (regrouping && !controller_.short_of_workers()) return;
    if (faults_.holds_commit() || !unresolved_.empty()) return;
    clock_.run();
    timers_.rearm();
}

}  // namespace assay::lazarus
