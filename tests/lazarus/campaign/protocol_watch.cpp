#include "tests/lazarus/campaign/protocol_watch.hpp"

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
    if (found->second.empty()) restorable_ = std::max(restorable_, part.step);
}

bool ProtocolWatch::usable(Worker worker) const {
    return joined_.count(worker) && !dead_.count(worker) && !leaving_.count(worker) &&
           !dismissed_.count(worker);
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
    if (plan.epoch <= plan_.epoch) fail_(fmt::format("epoch {} after {}", plan.epoch, plan_.epoch));
    if (!plan_.members.empty() && !going_ &&
        std::none_of(plan_.members.begin(), plan_.members.end(),
                     [&](Worker one) { return dead_.count(one) > 0; }))
        fail_(fmt::format("epoch {} was given up without a death", plan_.epoch));
    for (Worker member : plan.members) {
        if (dead_.count(member) || dismissed_.count(member) || !joined_.count(member))
            fail_(fmt::format("epoch {} counts on worker {}, which is gone", plan.epoch, member));
    }
    for (Worker before : plan_.members) {
        const bool kept = std::count(plan.members.begin(), plan.members.end(), before) > 0;
        if (!kept && !dead_.count(before) && !dismissed_.count(before))
            fail_(fmt::format("epoch {} forgets worker {}", plan.epoch, before));
    }
    if (controller.counts().fallbacks > fallbacks_) {
        check_fallback(plan, controller);
    } else if (restoring_ != plan.restore_step.has_value()) {
        fail_(fmt::format("epoch {}: restore_step without a reason, or missing", plan.epoch));
    } else if (!restoring_ && !lost().empty()) {
        fail_(fmt::format("epoch {} goes on although an expert is lost", plan.epoch));
    }
    if (plan.resume_step != next_)
        fail_(fmt::format("epoch {} resumes at {} instead of {}", plan.epoch, plan.resume_step,
                          next_));
    check_plan(plan);
    plan_ = plan;
    going_ = false;
    ready_.clear();
    reported_.clear();
}

void ProtocolWatch::check_fallback(const Reconfigure& plan, const Controller& controller) {
    if (restoring_ || lost().empty())
        fail_(
            fmt::format("epoch {} falls back although every expert has a live holder", plan.epoch));
    if (plan.restore_step != restorable_)
        fail_(fmt::format("epoch {} restores {} instead of {}", plan.epoch,
                          plan.restore_step.value_or(-1), restorable_));
    const Step back = plan.restore_step.value_or(0);
    ++fallbacks_;
    next_ = back;
    restoring_ = true;
    held_.clear();
    window_.assign(window_.size(), Loads(static_cast<std::size_t>(job_.experts)));
    steps_of_window_ = 0;
    states_.resize(static_cast<std::size_t>(back) + 1);
    unwritten_.erase(unwritten_.upper_bound(back), unwritten_.end());
    if (controller.committed() != back) fail_("the lineage was not cut where it was restored");
}

void ProtocolWatch::check_plan(const Reconfigure& plan) {
    std::set<ExpertId> placed;
    for (std::size_t layer = 0; layer < plan.holders.size(); ++layer) {
        if (plan.holders[layer].size() != plan.training.size()) fail_("holders without a worker");
        for (std::size_t i = 0; i < plan.holders[layer].size(); ++i) {
            const auto& slots = plan.holders[layer][i];
            if (static_cast<int>(slots.size()) != job_.slots ||
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
    for (Worker worker : joined_) {
        if (usable(worker) && !std::count(plan_.members.begin(), plan_.members.end(), worker))
            fail_(fmt::format("worker {} waits although a step has committed", worker));
    }
}

void ProtocolWatch::check(const Dismiss& dismiss, const Controller&) {
    if (!leaving_.count(dismiss.worker))
        fail_(fmt::format("worker {} is dismissed but never asked", dismiss.worker));
    if (dead_.count(dismiss.worker))
        fail_(fmt::format("dead worker {} is dismissed", dismiss.worker));
    dismissed_.insert(dismiss.worker);
}

void ProtocolWatch::check(const Abort& abort, const Controller&) {
    if (abort.epoch != plan_.epoch || !dead_.count(abort.dead)) fail_("Abort without a death");
    const bool all_reported =
        std::all_of(plan_.training.begin(), plan_.training.end(),
                    [&](Worker one) { return dead_.count(one) || reported_.count(one); });
    if (going_ && all_reported && lost().empty())
        fail_(fmt::format("step {} is discarded although every survivor has its sums", next_));
}

// ---- steps
// ---------------------------------------------------------------------------------------

void ProtocolWatch::check(const Commit& commit, const Controller& controller) {
    if (!going_ || commit.epoch != plan_.epoch || commit.step != next_)
        return fail_(fmt::format("step {} commits in place of {}", commit.step, next_));
    for (Worker worker : plan_.training) {
        if (!dead_.count(worker) && !reported_.count(worker))
            fail_(fmt::format("step {} commits without worker {}", commit.step, worker));
    }
    const CommittedStep entry{commit.step, commit.epoch, plan_.training, plan_.holders};
    if (static_cast<std::size_t>(commit.step) >= controller.lineage().size() ||
        controller.lineage()[static_cast<std::size_t>(commit.step)] != entry)
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
    if (job_.rebalance_every > 0 && next_ % job_.rebalance_every == 0 && next_ < job_.steps) {
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
    long usable_workers = 0;
    for (Worker worker : joined_) usable_workers += usable(worker);
    if (usable_workers * job_.slots >= job_.experts)
        fail_(fmt::format("gave up with {} usable workers: {}", usable_workers, stop.why));
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
