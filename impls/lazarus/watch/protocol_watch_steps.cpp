// The rules for steps and checkpoints, for who is told to go, and for the end.
#include <fmt/format.h>

#include <algorithm>

#include "impls/lazarus/watch/protocol_watch.hpp"

namespace assay::lazarus {

void ProtocolWatch::check(const Go& go, const Controller&) {
    not_while_evicting("Go");
    gave_up_saving_ = false;
    if (troubled_ == plan_.epoch) fail("Go in an epoch that failed");
    if (go.epoch != plan_.epoch || go.step != next_) fail("Go for a wrong epoch or step");
    if (!going_) {
        for (Worker member : plan_.members) {
            if (!ready_.count(member)) fail(fmt::format("Go before worker {} was ready", member));
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
            fail(fmt::format("worker {} asked to leave and trains on", member));
    }
    if (job_.join_wait_s > 0) return;
    long waiting = 0;
    for (Worker worker : joined_) {
        waiting += usable(worker) && !dropped_.count(worker) && !passed_over_.count(worker) &&
                   !std::count(plan_.members.begin(), plan_.members.end(), worker);
    }
    const auto training = static_cast<long>(plan_.training.size());
    if (waiting > 0 && most_training(training + waiting) > training)
        fail(fmt::format("{} workers wait although a step has committed", waiting));
}

void ProtocolWatch::check(const Dismiss& dismiss, const Controller&) {
    if (!leaving_.count(dismiss.worker))
        fail(fmt::format("worker {} is dismissed but never asked", dismiss.worker));
    if (dead_.count(dismiss.worker))
        fail(fmt::format("dead worker {} is dismissed", dismiss.worker));
    dismissed_.insert(dismiss.worker);
}

void ProtocolWatch::check(const Abort& abort, const Controller&) {
    if (abort.dead == -1) {
        if (abort.epoch != plan_.epoch || troubled_ != plan_.epoch) fail("Abort without a reason");
        return;
    }
    if (abort.epoch != plan_.epoch || !dead_.count(abort.dead)) fail("Abort without a death");
    const bool all_reported =
        std::all_of(plan_.training.begin(), plan_.training.end(),
                    [&](Worker one) { return dead_.count(one) || reported_.count(one); });
    if (going_ && all_reported && lost().empty() && !restarts())
        fail(fmt::format("step {} is discarded although every survivor has its sums", next_));
}

// ---- steps --------------------------------------------------------------------------------------

void ProtocolWatch::check(const Commit& commit, const Controller& controller) {
    not_while_evicting("Commit");
    if (poisoned_.count({commit.epoch, commit.step}))
        fail(fmt::format("step {} commits though its sums are not finite", commit.step));
    step_failures_ = corruptions_ = 0;
    if (!going_ || commit.epoch != plan_.epoch || commit.step != next_)
        return fail(fmt::format("step {} commits in place of {}", commit.step, next_));
    for (Worker worker : plan_.training) {
        if (!dead_.count(worker) && !reported_.count(worker))
            fail(fmt::format("step {} commits without worker {}", commit.step, worker));
    }
    const CommittedStep entry{commit.step, commit.epoch, plan_.training, plan_.holders};
    // The same event may have undone the step again: fewer nodes than a group were left after it.
    const bool undone = controller.counts().fallbacks > fallbacks_;
    const auto index = static_cast<std::size_t>(commit.step);
    if (index < controller.lineage().size() ? controller.lineage()[index] != entry : !undone)
        fail(fmt::format("the lineage tells another story of step {}", commit.step));
    for (std::size_t layer = 0; layer < loads_.size() && layer < window_.size(); ++layer) {
        for (std::size_t expert = 0; expert < loads_[layer].size(); ++expert)
            window_[layer][expert] += loads_[layer][expert];
    }
    ++steps_of_window_;
    ++next_;
    reported_.clear();
    if (rebalances() && next_ % job_.rebalance_every == 0 && next_ < job_.steps) {
        window_ = no_loads();
        steps_of_window_ = 0;
    }
}

void ProtocolWatch::check(const WriteCheckpoint& checkpoint, const Controller&) {
    if (checkpoint.step != next_ || !going_) fail("a checkpoint of another step than the last");
    auto& owners = unwritten_[checkpoint.step];
    owners = {checkpoint.dense_owner};
    for (std::size_t layer = 0; layer < checkpoint.owners.size(); ++layer) {
        for (std::size_t expert = 0; expert < checkpoint.owners[layer].size(); ++expert) {
            const Worker owner = checkpoint.owners[layer][expert];
            owners.insert(owner);
            const ExpertId id{static_cast<int>(layer), static_cast<int>(expert)};
            if (!held_[id].count(owner))
                fail(fmt::format("worker {} is to write an expert it does not hold", owner));
        }
    }
    for (Worker owner : owners) {
        if (dead_.count(owner)) fail(fmt::format("dead worker {} is to write", owner));
    }
}

// ---- evictions ----------------------------------------------------------------------------------

void ProtocolWatch::check(const Evict& evict, const Controller&) {
    if (!broken_ || broken_->epoch != plan_.epoch || broken_->suspect != evict.worker)
        return fail(fmt::format("worker {} is evicted without a reason", evict.worker));
    if (broken_->cause == GroupBroken::Cause::corrupt_message &&
        corruptions_ <= job_.most_retries) {
        fail(fmt::format("worker {} is evicted at corrupt message {}", evict.worker, corruptions_));
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
        fail(fmt::format("{} before the end of worker {}, which is evicted", what, *evicting_));
    evicting_.reset();
}

// ---- the end ------------------------------------------------------------------------------------

void ProtocolWatch::check(const Stop& stop, const Controller&) {
    stop_ = stop;
    if (stop.ok) {
        if (next_ != job_.steps) fail(fmt::format("stopped ok after {} steps", next_));
        if (!lost().empty()) fail("stopped ok without the whole model");
        return;
    }
    if (step_failures_ > job_.most_retries) return;  // the step cannot be done
    if (!too_few_workers())
        fail(fmt::format("gave up with {} usable workers: {}", usable_workers(), stop.why));
    if (job_.wait_for_nodes && !joined_.empty() && plan_.epoch > 0)
        fail("gave up instead of waiting for nodes: " + stop.why);
}

void ProtocolWatch::finish(const Controller& controller) {
    if (!stop_)
        return fail("deadlock: nothing happens any more and the controller has not stopped");
    finish_early(controller);
}

void ProtocolWatch::finish_early(const Controller& controller) {
    const auto& counts = controller.counts();
    if (controller.committed() != counts.commits - counts.rolled_back)
        fail("a committed step was lost without a fallback");
    if (counts.deaths != deaths_) fail("deaths miscounted");
    if (counts.leaves != static_cast<long>(dismissed_.size())) fail("leaves miscounted");
    if (controller.history().steps_in_window() != steps_of_window_ ||
        controller.history().window() != window_)
        fail("the routing history counts other steps than the committed ones");
}

}  // namespace assay::lazarus
