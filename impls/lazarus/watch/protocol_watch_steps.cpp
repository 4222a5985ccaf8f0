// The rules for steps and checkpoints, for who is told to go, and for the end.
#include <fmt/format.h>

#include <algorithm>

#include "impls/lazarus/watch/protocol_watch.hpp"

namespace assay::lazarus {

void ProtocolWatch::check(const Go&, const Controller&) {
    gave_up_saving_ = false;
    if (going_) return check_that_none_waits();
    held_.clear();
    for (std::size_t layer = 0; layer < plan_.holders.size(); ++layer) {
        for (std::size_t i = 0; i < plan_.training.size(); ++i) {
            for (int expert : plan_.holders[layer][i])
                held_[{static_cast<int>(layer), expert}].insert(plan_.training[i]);
        }
    }
    restoring_ = false;
}

void ProtocolWatch::check_that_none_waits() {
    for (Worker member : plan_.members) {
        if (leaving_.count(member) && !dismissed_.count(member))
            fail(fmt::format("worker {} asked to leave and trains on", member));
    }
    if (job_.join_wait_s > 0) return;
    long waiting = 0;
    for (Worker worker : joined_) {
        waiting += is_usable(worker) && !dropped_.count(worker) && !passed_over_.count(worker) &&
                   !std::count(plan_.members.begin(), plan_.members.end(), worker);
    }
    const auto training = static_cast<long>(plan_.training.size());
    if (waiting > 0 && most_training(training + waiting) > training)
        fail(fmt::format("{} workers wait although a step has committed", waiting));
}

// Where every survivor has the sums, the step commits.
void ProtocolWatch::check(const Abort& abort, const Controller&) {
    const bool all_reported =
        std::all_of(plan_.training.begin(), plan_.training.end(),
                    [&](Worker one) { return is_dead(one) || reported_.contains(one); });
    if (abort.dead != -1 && going_ && all_reported && lost().empty() && !restarts())
        fail(fmt::format("step {} is discarded although every survivor has its sums", next_));
}

// ---- steps --------------------------------------------------------------------------------------

void ProtocolWatch::check(const Commit& commit, const Controller& controller) {
    step_failures_ = corruptions_ = 0;
    if (!going_ || commit.epoch != plan_.epoch || commit.step != next_) return;
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
    const Step next = commit.step + 1;
    if (rebalances() && next % job_.rebalance_every == 0 && next < job_.steps) {
        window_ = no_loads();
        steps_of_window_ = 0;
    }
}

void ProtocolWatch::check(const WriteCheckpoint& checkpoint, const Controller&) {
    for (std::size_t layer = 0; layer < checkpoint.owners.size(); ++layer) {
        for (std::size_t expert = 0; expert < checkpoint.owners[layer].size(); ++expert) {
            const Worker owner = checkpoint.owners[layer][expert];
            const ExpertId id{static_cast<int>(layer), static_cast<int>(expert)};
            if (!held_[id].count(owner))
                fail(fmt::format("worker {} is to write an expert it does not hold", owner));
        }
    }
}

// ---- evictions ----------------------------------------------------------------------------------

void ProtocolWatch::check(const Evict& evict, const Controller&) {
    if (broken_ && broken_->cause == GroupBroken::Cause::corrupt_message &&
        corruptions_ <= job_.most_retries) {
        fail(fmt::format("worker {} is evicted at corrupt message {}", evict.worker, corruptions_));
    }
    corruptions_ = 0;
}

void ProtocolWatch::check(const StartTimer& timer, const Controller&) {
    if (restarts() && timer.after_s == job_.checkpoint_wait_s) save_timer_ = timer.id;
}

// ---- the end ------------------------------------------------------------------------------------

void ProtocolWatch::check(const Stop& stop, const Controller&) {
    if (stop.ok) {
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
    Watch::finish();
    if (stop()) finish_early(controller);
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
