// What the watch learns from the events that a controller is told of.
#include "impls/lazarus/watch/protocol_watch.hpp"

#include <algorithm>

namespace assay::lazarus {

ProtocolWatch::ProtocolWatch(const ControllerConfig& job)
    : Watch({.steps = job.steps}), job_(job), window_(no_loads()) {}

std::vector<Loads> ProtocolWatch::no_loads() const {
    return std::vector<Loads>(static_cast<std::size_t>(job_.layers),
                              Loads(static_cast<std::size_t>(job_.experts)));
}

void ProtocolWatch::before(const Event& event) {
    if (stop()) return;
    std::visit(
        [&](const auto& one) {
            if (see(one)) heard(one);
        },
        event);
}

void ProtocolWatch::after(const Action& action, const Controller& controller) {
    if (!stop()) std::visit([&](const auto& one) { check(one, controller); }, action);
    Watch::after(action);
}

void ProtocolWatch::heard(const Died& died) {
    if (!dismissed_.contains(died.worker)) ++deaths_;
    for (auto& [id, workers] : held_) workers.erase(died.worker);
}

void ProtocolWatch::heard(const StepDone& done) { loads_ = done.loads; }

// The newest two are kept.
void ProtocolWatch::heard(const CheckpointWritten&) {
    if (complete_.size() > 2) complete_.erase(complete_.begin());
}

void ProtocolWatch::heard(const StepFailed&) { ++step_failures_; }

void ProtocolWatch::heard(const GroupBroken& broken) {
    broken_ = broken;
    if (broken.cause == GroupBroken::Cause::corrupt_message) ++corruptions_;
}

void ProtocolWatch::heard(const RestoreFailed& failed) { torn_ = failed.epoch; }

void ProtocolWatch::heard(const Timer& timer) {
    if (timer.id != save_timer_) return;
    gave_up_saving_ = true;
    passed_over_ = joined_;
}

// ---- who there is -------------------------------------------------------------------------------

bool ProtocolWatch::is_usable(Worker worker) const {
    return joined_.contains(worker) && !is_dead(worker) && !leaving_.contains(worker) &&
           !dismissed_.contains(worker);
}

long ProtocolWatch::usable_workers() const {
    return std::count_if(joined_.begin(), joined_.end(),
                         [&](Worker one) { return is_usable(one); });
}

/// How many of so many workers can train.
long ProtocolWatch::most_training(long workers) const {
    if (groups()) return workers / job_.group * job_.group;
    return workers * job_.slots >= job_.experts ? workers : 0;
}

std::vector<ProtocolWatch::ExpertId> ProtocolWatch::lost() const {
    std::vector<ExpertId> lost;
    for (const auto& [id, workers] : held_) {
        if (workers.empty()) lost.push_back(id);
    }
    return lost;
}

}  // namespace assay::lazarus
