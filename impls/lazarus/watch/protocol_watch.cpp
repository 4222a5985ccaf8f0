// What the watch learns from the events that a controller is told of.
#include "impls/lazarus/watch/protocol_watch.hpp"

#include <algorithm>

namespace assay::lazarus {

ProtocolWatch::ProtocolWatch(const ControllerConfig& job) : job_(job), window_(no_loads()) {}

std::vector<Loads> ProtocolWatch::no_loads() const {
    return std::vector<Loads>(static_cast<std::size_t>(job_.layers),
                              Loads(static_cast<std::size_t>(job_.experts)));
}

void ProtocolWatch::before(const Event& event) {
    if (stop_) return;
    std::visit([&](const auto& one) { see(one); }, event);
}

void ProtocolWatch::after(const Action& action, const Controller& controller) {
    if (stop_) return fail("an action after Stop");
    std::visit([&](const auto& one) { check(one, controller); }, action);
}

void ProtocolWatch::see(const Died& died) {
    if (dead_.insert(died.worker).second && !dismissed_.count(died.worker)) ++deaths_;
    reported_.erase(died.worker);
    for (auto& [id, workers] : held_) workers.erase(died.worker);
}

void ProtocolWatch::see(const LeaveRequested& leave) { leaving_.insert(leave.worker); }

void ProtocolWatch::see(const StepDone& done) {
    if (!going_ || done.epoch != plan_.epoch || done.step != next_ || dead_.count(done.worker))
        return;
    reported_.insert(done.worker);
    loads_ = done.loads;
}

void ProtocolWatch::see(const Ready& ready) {
    if (ready.epoch == plan_.epoch) ready_.insert(ready.worker);
}

void ProtocolWatch::see(const CheckpointWritten& part) {
    const auto found = unwritten_.find(part.step);
    if (found == unwritten_.end()) return;
    found->second.erase(part.worker);
    if (!found->second.empty()) return;
    if (complete_.empty() || part.step > *complete_.begin() || complete_.size() < 2)
        complete_.insert(part.step);
    if (complete_.size() > 2) complete_.erase(complete_.begin());
    unwritten_.erase(unwritten_.begin(), unwritten_.upper_bound(part.step));
}

void ProtocolWatch::see(const StepFailed& failed) {
    const bool member = std::count(plan_.training.begin(), plan_.training.end(), failed.worker) > 0;
    if (!going_ || failed.epoch != plan_.epoch || failed.step != next_ || evicting_ || !member ||
        dead_.count(failed.worker) || troubled_ == plan_.epoch)
        return;
    troubled_ = failed.epoch;
    poisoned_.insert({failed.epoch, failed.step});
    ++step_failures_;
}

void ProtocolWatch::see(const GroupBroken& broken) {
    if (broken.epoch != plan_.epoch || troubled_ == plan_.epoch) return;
    troubled_ = broken.epoch;
    broken_ = broken;
    if (broken.cause == GroupBroken::Cause::corrupt_message) ++corruptions_;
}

void ProtocolWatch::see(const RestoreFailed& failed) {
    if (failed.epoch != plan_.epoch || failed.step != plan_.restore_step ||
        dead_.count(failed.worker) || evicting_ || torn_ == plan_.epoch)
        return;
    if (troubled_ == plan_.epoch) return;  // this epoch is over
    torn_ = troubled_ = failed.epoch;
    complete_.erase(failed.step);
}

void ProtocolWatch::see(const Timer& timer) {
    if (timer.id != save_timer_) return;
    gave_up_saving_ = true;
    passed_over_ = joined_;
}

// ---- who there is -------------------------------------------------------------------------------

bool ProtocolWatch::usable(Worker worker) const {
    return joined_.count(worker) && !dead_.count(worker) && !leaving_.count(worker) &&
           !dismissed_.count(worker);
}

long ProtocolWatch::usable_workers() const {
    return std::count_if(joined_.begin(), joined_.end(), [&](Worker one) { return usable(one); });
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
