#include "impls/lazarus/campaign/protocol_watch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace assay::lazarus::campaign {

ProtocolWatch::ProtocolWatch(ControllerConfig job, Hash seed, std::function<void(std::string)> fail)
    : job_(job),
      seed_(seed),
      fail_(std::move(fail)),
      window_(static_cast<std::size_t>(job.layers), Loads(static_cast<std::size_t>(job.experts))),
      states_{initial_state(job.layers, job.experts, seed)} {}

void ProtocolWatch::before(const Event& event) {
    if (stop_) return;
    std::visit([&](const auto& one) { see(one); }, event);
}

void ProtocolWatch::after(const Action& action, const Controller& controller) {
    if (stop_) return fail_("an action after Stop");
    std::visit([&](const auto& one) { check(one, controller); }, action);
}

// ---- events ------------------------------------------------------------------------------------

void ProtocolWatch::see(const Died& died) {
    if (dead_.insert(died.worker).second && !dismissed_.count(died.worker)) ++deaths_;
    reported_.erase(died.worker);
    for (auto& [id, workers] : held_) workers.erase(died.worker);
}

void ProtocolWatch::see(const LeaveRequested& leave) { leaving_.insert(leave.worker); }

void ProtocolWatch::see(const StepDone& done) {
    if (going_ && done.epoch == plan_.epoch && done.step == next_ && !dead_.count(done.worker))
        reported_.insert(done.worker);
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
    ++failures_;
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

std::vector<ExpertId> ProtocolWatch::lost() const {
    std::vector<ExpertId> lost;
    for (const auto& [id, workers] : held_) {
        if (workers.empty()) lost.push_back(id);
    }
    return lost;
}

// ---- Go, Dismiss, Abort ------------------------------------------------------------------------

void ProtocolWatch::check(const Go& go, const Controller&) {
    not_while_evicting("Go");
    gave_up_saving_ = false;
    if (troubled_ == plan_.epoch) fail_("Go in an epoch that failed");
    if (go.epoch != plan_.epoch || go.step != next_) fail_("Go for a wrong epoch or step");
    if (!going_) {
        for (Worker member : plan_.members) {
            if (!ready_.count(member)) fail_(fmt::format("Go before worker {} was ready", member));
        }
        held_.clear();
        for (std::size_t layer = 0; layer < plan_.holders.size(); ++layer) {
            for (std::size_t i = 0; i < plan_.training.size(); ++i) {
                for (int expert : plan_.holders[layer][i])
                    held_[{static_cast<int>(layer), expert}].insert(plan_.training[i]);
            }
        }
        restoring_ = false;
        going_ = true;
    } else {
        check_nobody_waits();
    }
    reported_.clear();
}

void ProtocolWatch::check_nobody_waits() {
    for (Worker member : plan_.members) {
        if (leaving_.count(member) && !dismissed_.count(member))
            fail_(fmt::format("worker {} asked to leave and trains on", member));
    }
    if (job_.join_wait_s > 0) return;
    long waiting = 0;
    for (Worker worker : joined_) {
        waiting += usable(worker) && !dropped_.count(worker) && !passed_over_.count(worker) &&
                   !std::count(plan_.members.begin(), plan_.members.end(), worker);
    }
    const auto training = static_cast<long>(plan_.training.size());
    if (waiting > 0 && most_training(training + waiting) > training)
        fail_(fmt::format("{} workers wait although a step has committed", waiting));
}

void ProtocolWatch::check(const Dismiss& dismiss, const Controller&) {
    if (!leaving_.count(dismiss.worker))
        fail_(fmt::format("worker {} is dismissed but never asked", dismiss.worker));
    if (dead_.count(dismiss.worker))
        fail_(fmt::format("dead worker {} is dismissed", dismiss.worker));
    dismissed_.insert(dismiss.worker);
}

void ProtocolWatch::check(const Abort& abort, const Controller&) {
    if (abort.dead == -1) {
        if (abort.epoch != plan_.epoch || troubled_ != plan_.epoch) fail_("Abort without a reason");
        return;
    }
    if (abort.epoch != plan_.epoch || !dead_.count(abort.dead)) fail_("Abort without a death");
    const bool all_reported =
        std::all_of(plan_.training.begin(), plan_.training.end(),
                    [&](Worker one) { return dead_.count(one) || reported_.count(one); });
    if (going_ && all_reported && lost().empty() && !restarts())
        fail_(fmt::format("step {} is discarded although every survivor has its sums", next_));
}

// ---- steps -------------------------------------------------------------------------------------

void ProtocolWatch::check(const Commit& commit, const Controller& controller) {
    not_while_evicting("Commit");
    if (poisoned_.count({commit.epoch, commit.step}))
        fail_(fmt::format("step {} commits though its sums are not finite", commit.step));
    failures_ = corruptions_ = 0;
    if (!going_ || commit.epoch != plan_.epoch || commit.step != next_)
        return fail_(fmt::format("step {} commits in place of {}", commit.step, next_));
    for (Worker worker : plan_.training) {
        if (!dead_.count(worker) && !reported_.count(worker))
            fail_(fmt::format("step {} commits without worker {}", commit.step, worker));
    }
    const CommittedStep entry{commit.step, commit.epoch, plan_.training, plan_.holders};
    // The same event may have undone the step again: fewer nodes than a group were left after it.
    const bool undone = controller.counts().fallbacks > fallbacks_;
    const auto index = static_cast<std::size_t>(commit.step);
    if (index < controller.lineage().size() ? controller.lineage()[index] != entry : !undone)
        fail_(fmt::format("the lineage tells another story of step {}", commit.step));
    states_.push_back(next_state(states_.back(), entry));
    expected_[{commit.epoch, commit.step}] = states_.back();
    const auto loads = routed(job_.layers, job_.experts, seed_, commit.step, plan_.training);
    for (std::size_t layer = 0; layer < loads.size(); ++layer) {
        for (std::size_t expert = 0; expert < loads[layer].size(); ++expert)
            window_[layer][expert] += loads[layer][expert];
    }
    ++steps_of_window_;
    ++next_;
    reported_.clear();
    if (rebalances() && next_ % job_.rebalance_every == 0 && next_ < job_.steps) {
        window_.assign(window_.size(), Loads(static_cast<std::size_t>(job_.experts)));
        steps_of_window_ = 0;
    }
}

void ProtocolWatch::check(const WriteCheckpoint& checkpoint, const Controller&) {
    if (checkpoint.step != next_ || !going_) fail_("a checkpoint of another step than the last");
    auto& owners = unwritten_[checkpoint.step];
    owners = {checkpoint.dense_owner};
    for (std::size_t layer = 0; layer < checkpoint.owners.size(); ++layer) {
        for (std::size_t expert = 0; expert < checkpoint.owners[layer].size(); ++expert) {
            const Worker owner = checkpoint.owners[layer][expert];
            owners.insert(owner);
            const ExpertId id{static_cast<int>(layer), static_cast<int>(expert)};
            if (!held_[id].count(owner))
                fail_(fmt::format("worker {} is to write an expert it does not hold", owner));
        }
    }
    for (Worker owner : owners) {
        if (dead_.count(owner)) fail_(fmt::format("dead worker {} is to write", owner));
    }
}

// ---- the end -----------------------------------------------------------------------------------

void ProtocolWatch::check(const Stop& stop, const Controller&) {
    stop_ = stop;
    if (stop.ok) {
        if (next_ != job_.steps) fail_(fmt::format("stopped ok after {} steps", next_));
        if (!lost().empty()) fail_("stopped ok without the whole model");
        return;
    }
    if (failures_ > job_.most_retries) return;  // the step cannot be done
    if (!too_few_workers())
        fail_(fmt::format("gave up with {} usable workers: {}", usable_workers(), stop.why));
    if (job_.wait_for_nodes && !joined_.empty() && plan_.epoch > 0)
        fail_("gave up instead of waiting for nodes: " + stop.why);
}

void ProtocolWatch::check(const Evict& evict, const Controller&) {
    if (!broken_ || broken_->epoch != plan_.epoch || broken_->suspect != evict.worker)
        return fail_(fmt::format("worker {} is evicted without a reason", evict.worker));
    if (broken_->cause == GroupBroken::Cause::corrupt_message) {
        if (corruptions_ <= job_.most_retries)
            fail_(fmt::format("worker {} is evicted at corrupt message {}", evict.worker,
                              corruptions_));
    }
    corruptions_ = 0;
    evicting_ = evict.worker;
}

void ProtocolWatch::check(const StartTimer& timer, const Controller&) {
    if (restarts() && timer.after_s == job_.checkpoint_wait_s) save_timer_ = timer.id;
}

void ProtocolWatch::not_while_evicting(const char* what) {
    if (!evicting_) return;
    if (!dead_.count(*evicting_))
        fail_(fmt::format("{} before the end of worker {}, which is evicted", what, *evicting_));
    evicting_.reset();
}

void ProtocolWatch::finish(const Controller& controller) {
    if (!stop_)
        return fail_("deadlock: nothing happens any more and the controller has not stopped");
    const auto& counts = controller.counts();
    if (controller.committed() != counts.commits - counts.rolled_back)
        fail_("a committed step was lost without a fallback");
    if (counts.deaths != deaths_) fail_("deaths miscounted");
    if (counts.leaves != static_cast<long>(dismissed_.size())) fail_("leaves miscounted");
    if (controller.history().steps_in_window() != steps_of_window_ ||
        controller.history().window() != window_)
        fail_("the routing history counts other steps than the committed ones");
    if (replay(job_.layers, job_.experts, seed_, controller.lineage()) != states_.back())
        fail_("the lineage does not lead to the expected state");
}

}  // namespace assay::lazarus::campaign
