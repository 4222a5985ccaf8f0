// What happens to a running training, and whom it is passed on to.
#include <algorithm>

#include "impls/lazarus/live/messages.hpp"
#include "impls/lazarus/live/session.hpp"
#include "suite/cluster/pacer.hpp"

namespace assay::lazarus {

using nlohmann::json;

void Session::said(Worker worker, const json& body) {
    const WorkerMessage message = worker_message_from(body);
    if (const auto* asked_for = std::get_if<Digests>(&message))
        result_.digests[worker] = asked_for->digests;
    if (driver_.ending()) return;
    if (const auto* report = std::get_if<StepReport>(&message); report && report->epoch == epoch_)
        hold_until(driver_.time().step_done(body));
    std::visit([&](const auto& one) { heard(one); }, message);
}

void Session::heard(const StepFailed& failed) {
    recorder_.event("retry", now(), failed.worker, {{"why", failed.why}});
    decide(failed);
}

void Session::heard(const CheckpointFailed& failed) {
    recorder_.event("checkpoint", now(), failed.worker,
                    {{"step", failed.step}, {"failed", failed.why}});
}

void Session::heard(const RestoreFailed& failed) {
    recorder_.event("checkpoint", now(), failed.worker,
                    {{"step", failed.step}, {"unreadable", failed.why}});
    decide(failed);
}

void Session::blamed(const drive::Suspicion::Blame& blame) {
    const bool unexplained = blame.cause == drive::Suspicion::Cause::unexplained;
    decide(GroupBroken{blame.epoch, blame.suspect, cause_of(blame),
                       unexplained ? "its group broke though nobody died" : blame.why});
}

void Session::struck(const Fault& fault) {
    if (fault.kind != FaultKind::join) open_disturbances_.push_back({fault.kind, now(), 0});
}

// ---- steps -------------------------------------------------------------------------------------

// The modelled step ends then, however soon the real one did.
void Session::hold_until(std::optional<double> end_s) {
    if (!end_s || end_timer_) return;
    end_timer_ = driver_.timers().at(*end_s, [this] {
        end_timer_.reset();
        release_held();
    });
}

void Session::heard(const StepReport& report) {
    if (report.epoch == epoch_) losses_[report.step] = report.loss;
    held_.push_back({report.worker, report.epoch, report.step, report.loads});
    release_held();
}

void Session::release_held() {
    while (!held_.empty() && !driver_.awaits_a_worker() && !end_timer_ && !driver_.ending()) {
        const auto done = std::move(held_.front());
        held_.pop_front();
        decide(done);
    }
}

// A modelled checkpoint takes its time; what a worker that dies meanwhile has written is no part of
// one.
void Session::heard(const CheckpointWritten& written) {
    const auto tell = [this, written] {
        decide(written);
        retention_.written(written.step, written.worker);
    };
    const auto durable = durable_.find(written.step);
    if (durable == durable_.end() || durable->second <= now()) return tell();
    driver_.timers().at(durable->second, [this, worker = written.worker, tell] {
        if (driver_.alive(worker)) tell();
    });
}

// ---- groups ------------------------------------------------------------------------------------

void Session::heard(const GroupReport& report) {
    if (report.blocks > 0) {
        recorder_.event("transfer", now(), report.worker,
                        {{"blocks", report.blocks},
                         {"bytes", report.bytes},
                         {"real_seconds", report.transfer_s}});
    }
    if (report.epoch != epoch_) return;
    ready_.push_back({report.worker, epoch_});
    look_who_is_ready();
}

void Session::died(Worker worker) {
    decide(Died{worker});
    look_who_is_ready();
}

void Session::look_who_is_ready() {
    if (!epoch_started_ || ready_.empty() || ready_timer_) return;
    const bool all = std::all_of(members_.begin(), members_.end(), [this](Worker member) {
        return !driver_.alive(member) ||
               std::count(ready_.begin(), ready_.end(), Ready{member, epoch_}) > 0;
    });
    if (all) everyone_is_ready();
}

// The machine has formed the group; the modelled cluster needs its own time for it. Whoever dies
// until then dies in the middle of it.
void Session::everyone_is_ready() {
    forming_.real_s = cluster::monotonic_s() - epoch_started_real_s_;
    driver_.group_is_ready();
    if (!driver_.begun()) return tell_of_readiness();
    const auto& cost = forming_.cost;
    const bool planned = forming_.restart && !forming_.after_death && checkpoint_since_step_;
    const auto pause = driver_.time().regroup(*epoch_started_, cost.detect_s,
                                              cost.regroup_s + cost.transfer_s, planned);
    result_.pauses.add(forming_.restart ? Pause::restart : Pause::reconfiguration, pause.from_s,
                       pause.to_s);
    ready_s_ = pause.to_s;
    if (ready_s_ <= now()) return tell_of_readiness();
    ready_timer_ = driver_.timers().at(ready_s_, [this] {
        ready_timer_.reset();
        tell_of_readiness();
    });
}

void Session::tell_of_readiness() {
    const auto ready = std::exchange(ready_, {});
    for (const auto& one : ready)
        if (!driver_.ending()) decide(one);
}

}  // namespace assay::lazarus
