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

// ---- events
// --------------------------------------------------------------------------------------

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
    const bool member =
        std::count(plan_.training.begin(), plan_.training.end(), failed.worker) > 0;
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

// ---- reconfiguration
// -----------------------------------------------------------------------------

void ProtocolWatch::check(const Reconfigure& plan, const Controller& controller) {
    not_while_evicting("Reconfigure");
    if (plan.epoch <= plan_.epoch) fail_(fmt::format("epoch {} after {}", plan.epoch, plan_.epoch));
    if (!plan_.members.empty() && !going_ && troubled_ != plan_.epoch &&
        std::none_of(plan_.members.begin(), plan_.members.end(),
                     [&](Worker one) { return dead_.count(one) > 0; }))
        fail_(fmt::format("epoch {} was given up without a death", plan_.epoch));
    for (Worker member : plan.members) {
        if (dead_.count(member) || dismissed_.count(member) || !joined_.count(member))
            fail_(fmt::format("epoch {} counts on worker {}, which is gone", plan.epoch, member));
    }
    for (Worker before : plan_.members) {
        const bool kept = std::count(plan.members.begin(), plan.members.end(), before) > 0;
        if (!kept && !groups() && !dead_.count(before) && !dismissed_.count(before))
            fail_(fmt::format("epoch {} forgets worker {}", plan.epoch, before));
    }
    check_source(plan, controller);
    if (plan.resume_step != next_)
        fail_(fmt::format("epoch {} resumes at {} instead of {}", plan.epoch, plan.resume_step,
                          next_));
    check_plan(plan);
    if (groups()) check_groups(plan);
    if (plan.restore_step) {  // everybody was asked; those left over now are not asked again
        dropped_.clear();
        for (Worker worker : joined_) {
            const bool member = std::count(plan.members.begin(), plan.members.end(), worker) > 0;
            if (groups() && !restarts() && usable(worker) && !member) dropped_.insert(worker);
        }
    }
    plan_ = plan;
    gave_up_saving_ = false;
    save_timer_.reset();
    going_ = false;
    ready_.clear();
    reported_.clear();
}

void ProtocolWatch::check_source(const Reconfigure& plan, const Controller& controller) {
    const auto& counts = controller.counts();
    if (counts.planned_restarts > planned_restarts_) {
        planned_restarts_ = counts.planned_restarts;
        if (!restarts() || plan.restore_step != next_ || !complete_.count(next_))
            fail_(fmt::format("epoch {} restarts as planned without the checkpoint of step {}",
                              plan.epoch, next_));
        restoring_ = true;
        held_.clear();
    } else if (counts.fallbacks > fallbacks_) {
        ++fallbacks_;
        check_fallback(plan);
        go_back(plan, controller);
    } else if (counts.bad_checkpoints > bad_checkpoints_) {
        ++bad_checkpoints_;
        if (torn_ != plan_.epoch) fail_("a checkpoint is given up though nobody failed to read it");
        go_back(plan, controller);
    } else if (restoring_ != plan.restore_step.has_value()) {
        fail_(fmt::format("epoch {}: restore_step without a reason, or missing", plan.epoch));
    } else if (!restoring_ && !lost().empty()) {
        fail_(fmt::format("epoch {} goes on although an expert is lost", plan.epoch));
    } else if (!restoring_ && restarts() && one_that_trained_died()) {
        fail_(fmt::format("epoch {} goes on although one that trained is dead", plan.epoch));
    }
}

bool ProtocolWatch::one_that_trained_died() const {
    return std::any_of(plan_.members.begin(), plan_.members.end(), [&](Worker one) {
        return dead_.count(one) > 0 && !dismissed_.count(one);
    });
}

bool ProtocolWatch::may_fall_back() const {
    if (!lost().empty()) return true;
    if (restarts()) {
        const bool leavers = std::any_of(leaving_.begin(), leaving_.end(),
                                         [&](Worker one) { return !dismissed_.count(one); });
        return one_that_trained_died() || (gave_up_saving_ && leavers);
    }
    long available = usable_workers();
    for (Worker worker : dropped_) available -= usable(worker);
    return groups() && available < job_.group;
}

void ProtocolWatch::check_fallback(const Reconfigure& plan) {
    if (restoring_ || !may_fall_back())
        fail_(
            fmt::format("epoch {} falls back although every expert has a live holder", plan.epoch));
}

void ProtocolWatch::go_back(const Reconfigure& plan, const Controller& controller) {
    if (plan.restore_step != newest())
        fail_(fmt::format("epoch {} restores {} instead of {}", plan.epoch,
                          plan.restore_step.value_or(-1), newest()));
    const Step back = plan.restore_step.value_or(0);
    next_ = back;
    restoring_ = true;
    held_.clear();
    failures_ = corruptions_ = 0;
    window_.assign(window_.size(), Loads(static_cast<std::size_t>(job_.experts)));
    steps_of_window_ = 0;
    states_.resize(static_cast<std::size_t>(back) + 1);
    unwritten_.erase(unwritten_.upper_bound(back), unwritten_.end());
    complete_.erase(complete_.upper_bound(back), complete_.end());
    if (controller.committed() != back) fail_("the lineage was not cut where it was restored");
}

void ProtocolWatch::check_groups(const Reconfigure& plan) {
    const auto group = static_cast<std::size_t>(job_.group);
    if (plan.training.empty() || plan.training.size() % group != 0)
        return fail_(fmt::format("epoch {} trains on {} nodes in groups of {}", plan.epoch,
                                 plan.training.size(), group));
    for (const Placement& layer : plan.holders) {
        if (layer != plan.holders[0]) fail_("a node has another share in another layer");
    }
    for (std::size_t first = 0; first < plan.training.size(); first += group) {
        std::multiset<int> together;
        for (std::size_t i = first; i < first + group; ++i)
            together.insert(plan.holders[0][i].begin(), plan.holders[0][i].end());
        if (together.size() != static_cast<std::size_t>(job_.experts) ||
            std::set<int>(together.begin(), together.end()).size() != together.size())
            fail_("a group does not hold every expert once");
    }
    if (plan.restore_step) {
        if (static_cast<long>(plan.training.size()) < most_training(usable_workers()))
            fail_(fmt::format("epoch {} restarts on fewer nodes than there are", plan.epoch));
        return;
    }
    for (Worker worker : plan.members) {
        if (dropped_.count(worker))
            fail_(fmt::format("worker {} was dropped and is taken back", worker));
    }
    for (Worker before : plan_.training) {
        if (std::count(plan.members.begin(), plan.members.end(), before)) continue;
        // What it held counts no longer. One that has not held anything yet may come again.
        for (auto& [id, workers] : held_) {
            if (workers.erase(before)) dropped_.insert(before);
        }
    }
    if (!lost().empty()) fail_(fmt::format("epoch {} drops the last holder of an expert", plan.epoch));
}

void ProtocolWatch::check_plan(const Reconfigure& plan) {
    std::set<ExpertId> placed;
    for (std::size_t layer = 0; layer < plan.holders.size(); ++layer) {
        if (plan.holders[layer].size() != plan.training.size()) fail_("holders without a worker");
        for (std::size_t i = 0; i < plan.holders[layer].size(); ++i) {
            const auto& slots = plan.holders[layer][i];
            const int expected = groups() ? job_.experts / job_.group : job_.slots;
            if (static_cast<int>(slots.size()) != expected ||
                !std::is_sorted(slots.begin(), slots.end()))
                fail_(fmt::format("worker {} has slots {}", plan.training[i], slots));
            for (int expert : slots) {
                placed.insert({static_cast<int>(layer), expert});
            }
        }
    }
    if (placed.size() != static_cast<std::size_t>(job_.layers * job_.experts))
        fail_(fmt::format("epoch {} leaves experts without a holder", plan.epoch));
    for (const Transfer& one : plan.transfers) {
        const auto found = held_.find({one.layer, one.expert});
        if (found == held_.end() || !found->second.count(one.from))
            fail_(
                fmt::format("epoch {} wants expert {} of layer {} from {}, which does not hold it",
                            plan.epoch, one.expert, one.layer, one.from));
    }
    if (!std::is_sorted(plan.transfers.begin(), plan.transfers.end(), [](auto& a, auto& b) {
            return std::tuple(a.from, a.to, a.layer, a.expert) <
                   std::tuple(b.from, b.to, b.layer, b.expert);
        }))
        fail_("transfers out of order");
    if (plan.restore_step && !(plan.transfers.empty() && plan.need_dense.empty()))
        fail_("transfers although the state comes from storage");
}

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

// ---- steps
// ---------------------------------------------------------------------------------------

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

// ---- the end
// -------------------------------------------------------------------------------------

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
