#include "impls/dr_post_training/policy/guard/guard.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace assay::dr_post_training {

void Guard::on(const Event& event, double, Actions& actions) {
    if (over_) return;
    std::visit([&](const auto& one) { handle(one, actions); }, event);
}

template <class Order>
void Guard::order(Awaits answer, Order order, Actions& actions) {
    awaits_ = answer;
    actions.push_back(std::move(order));
    actions.push_back(StartTimer{.id = ++orders_, .after_s = settings_.patience_s});
}

void Guard::fail(const std::string& why, Actions& actions) {
    over_ = true;
    awaits_ = Awaits::nothing;
    actions.push_back(Note{.kind = "failed", .step = step_, .why = why});
    actions.push_back(Stop{.ok = false, .why = why});
}

bool Guard::may_recover(const std::string& why, Actions& actions) {
    if (++recoveries_ <= settings_.most_recoveries) return true;
    fail(fmt::format("{} recoveries in a row without a new step, the last: {}",
                     settings_.most_recoveries, why),
         actions);
    return false;
}

// ---- workers -----------------------------------------------------------------------------------

void Guard::handle(const Joined& joined, Actions& actions) {
    if (awaits_ != Awaits::worker) return;
    worker_ = joined.worker;
    restore(actions);
}

void Guard::handle(const Died& died, Actions& actions) {
    // So is one that never came: no other is on the way.
    if (awaits_ != Awaits::worker && died.worker != worker_) return;
    const std::string why = fmt::format("worker {} died", died.worker);
    if (!may_recover(why, actions)) return;
    ++counts_.restarted;
    worker_ = -1;
    awaits_ = Awaits::worker;
    actions.push_back(Note{.kind = "restart", .step = step_, .why = why});
    actions.push_back(Spawn{});
}

void Guard::handle(const Timer& timer, Actions& actions) {
    if (timer.id != orders_ || awaits_ == Awaits::worker || awaits_ == Awaits::death) return;
    ++counts_.evicted;
    awaits_ = Awaits::death;
    actions.push_back(
        Evict{.worker = worker_,
              .why = fmt::format("silent for {:g} s at step {}", settings_.patience_s, step_)});
}

// ---- states ------------------------------------------------------------------------------------

void Guard::restore(Actions& actions) {
    step_ = checkpoints_.empty() ? 0 : checkpoints_.back();
    attempt_ = 1;
    order(Awaits::ready,
          Reconfigure{
              .epoch = ++epoch_, .members = {worker_}, .restore_step = step_, .resume_step = step_},
          actions);
}

void Guard::drop(Step step, Actions& actions) {
    if (std::erase(checkpoints_, step) > 0) actions.push_back(DropCheckpoint{step});
}

void Guard::handle(const Ready& ready, Actions& actions) {
    if (!answers(ready, Awaits::ready)) return;
    const auto known = digests_.find(step_);
    if (known != digests_.end() && known->second != ready.digest)
        return handle(RestoreFailed{.worker = worker_,
                                    .epoch = epoch_,
                                    .step = step_,
                                    .why = "its state is another one than was stored"},
                      actions);
    digests_.emplace(step_, ready.digest);
    after_state(actions);
}

void Guard::handle(const RestoreFailed& failed, Actions& actions) {
    if (!answers(failed, Awaits::ready)) return;
    if (step_ == 0) return fail("the initial values cannot be made: " + failed.why, actions);
    ++counts_.unreadable;
    actions.push_back(Note{
        .kind = "restore", .step = step_, .why = "the checkpoint cannot be used: " + failed.why});
    drop(step_, actions);
    restore(actions);
}

void Guard::handle(const StateDamaged& damaged, Actions& actions) {
    if (!answers(damaged, Awaits::step) && !answers(damaged, Awaits::applied) &&
        !answers(damaged, Awaits::checkpoint))
        return;
    if (!may_recover(damaged.why, actions)) return;
    ++counts_.restored;
    actions.push_back(Note{.kind = "restore", .step = step_, .why = damaged.why});
    restore(actions);
}

/// The worker has state step_, in order.
void Guard::after_state(Actions& actions) {
    if (step_ == settings_.steps) {
        over_ = true;
        awaits_ = Awaits::nothing;
        actions.push_back(Stop{.ok = true, .why = ""});
        return;
    }
    attempt_ = 1;
    order(Awaits::step, Go{.epoch = epoch_, .step = step_}, actions);
}

// ---- steps -------------------------------------------------------------------------------------

void Guard::handle(const StepDone& done, Actions& actions) {
    if (answers(done, Awaits::step))
        order(Awaits::applied, Commit{.epoch = epoch_, .step = step_}, actions);
}

void Guard::handle(const StepFailed& failed, Actions& actions) {
    if (!answers(failed, Awaits::step)) return;
    if (attempt_ >= settings_.attempts)
        return fail(fmt::format("step {} is not finite, {} times in a row", step_, attempt_),
                    actions);
    ++attempt_;
    ++counts_.redone;
    actions.push_back(Note{.kind = "redo", .step = step_, .why = "not finite"});
    order(Awaits::step, Go{.epoch = epoch_, .step = step_}, actions);
}

void Guard::handle(const Applied& applied, Actions& actions) {
    if (!answers(applied, Awaits::applied)) return;
    const bool is_new = step_ == stored_;
    ++step_;
    if (is_new) {
        digests_[step_] = applied.digest;
        actions.push_back(StoreStep{.step = stored_++, .digest = applied.digest});
        recoveries_ = 0;
    } else {
        ++counts_.repeated;
        if (digests_.at(step_) != applied.digest)
            return fail(
                fmt::format("step {} came out otherwise when it was computed again", step_ - 1),
                actions);
    }
    const bool due =
        settings_.checkpoint_every > 0 && step_ % settings_.checkpoint_every == 0 &&
        std::find(checkpoints_.begin(), checkpoints_.end(), step_) == checkpoints_.end();
    if (due) return order(Awaits::checkpoint, WriteCheckpoint{.step = step_}, actions);
    after_state(actions);
}

// ---- checkpoints -------------------------------------------------------------------------------

void Guard::handle(const CheckpointWritten& written, Actions& actions) {
    if (!answers(written, Awaits::checkpoint)) return;
    checkpoints_.push_back(step_);
    std::sort(checkpoints_.begin(), checkpoints_.end());
    while (checkpoints_.size() > static_cast<std::size_t>(std::max(1, settings_.generations)))
        drop(checkpoints_.front(), actions);
    after_state(actions);
}

void Guard::handle(const CheckpointFailed& failed, Actions& actions) {
    if (!answers(failed, Awaits::checkpoint)) return;
    ++counts_.unwritten;
    actions.push_back(Note{.kind = "checkpoint_failed", .step = step_, .why = failed.why});
    after_state(actions);
}

}  // namespace assay::dr_post_training
