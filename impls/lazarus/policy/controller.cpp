#include "impls/lazarus/policy/controller.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace assay::lazarus {
namespace {

void require_at_least(const char* setting, long long value, long long least) {
    if (value < least) {
        throw std::invalid_argument(fmt::format(
            "Lazarus controller: {} is {}, it must be at least {}", setting, value, least));
    }
}

}  // namespace

Controller::Controller(ControllerConfig config)
    : config_(config),
      holdings_(config.layers, config.experts),
      history_(std::max(config.layers, 0), std::max(config.experts, 0)),
      expected_(config.initial_workers) {
    require_at_least("layers", config.layers, 1);
    require_at_least("experts", config.experts, 1);
    require_at_least("slots", config.slots, 1);
    require_at_least("min_replicas", config.min_replicas, 1);
    require_at_least("steps", config.steps, 0);
    require_at_least("rebalance_every", config.rebalance_every, 0);
    require_at_least("checkpoint_every", config.checkpoint_every, 0);
    require_at_least("initial_workers", config.initial_workers, 1);
    if (!(config.join_wait_s >= 0))
        throw std::invalid_argument("Lazarus controller: join_wait_s must be 0 or more");
}

void Controller::on(const Event& event, double /*now_s*/, Actions& out) {
    if (phase_ == Phase::stopped) return;
    std::visit([&](const auto& one) { handle(one, out); }, event);
}

// ---- membership events
// ---------------------------------------------------------------------------

void Controller::handle(const Joined& joined, Actions& out) {
    if (!membership_.join(joined.worker)) return;
    ++counts_.joins;
    if (phase_ == Phase::waiting) return start_if_complete(out);
    if (config_.join_wait_s == 0) {
        joiners_due_ = true;
    } else if (!joiners_due_ && !join_timer_) {
        join_timer_ = ++timers_;
        out.push_back(StartTimer{*join_timer_, config_.join_wait_s});
    }
}

void Controller::handle(const Timer& timer, Actions&) {
    if (timer.id != join_timer_) return;
    join_timer_.reset();
    joiners_due_ = !membership_.pending().empty();
}

void Controller::handle(const Died& died, Actions& out) {
    const auto standing = membership_.die(died.worker);
    if (standing == Membership::Standing::gone) return;
    ++counts_.deaths;
    if (phase_ == Phase::waiting) {
        --expected_;
        return start_if_complete(out);
    }
    if (standing != Membership::Standing::member) return;
    holdings_.forget(died.worker);
    if (phase_ == Phase::training) return lose_member_while_training(died.worker, out);
    causes_.push_back(fmt::format("death of {}", died.worker));
    if (!membership_.members().empty()) out.push_back(Abort{plan_.epoch, died.worker});
    reconfigure(out);
}

void Controller::handle(const LeaveRequested& leave, Actions& out) {
    const auto standing = membership_.request_leave(leave.worker);
    if (standing == Membership::Standing::gone || standing == Membership::Standing::member) return;
    ++counts_.leaves;
    out.push_back(Dismiss{leave.worker});
    if (phase_ == Phase::waiting) {
        --expected_;
        start_if_complete(out);
    }
}

void Controller::start_if_complete(Actions& out) {
    const auto joined = static_cast<int>(membership_.pending().size());
    if (expected_ <= 0 && joined == 0)
        return stop(false, "every worker is gone before training began", out);
    if (joined == 0 || joined < expected_) return;
    membership_.admit_pending();
    causes_ = {"start"};
    reconfigure(out);
}

// ---- step protocol
// -------------------------------------------------------------------------------

void Controller::handle(const StepDone& done, Actions& out) {
    if (phase_ != Phase::training || done.epoch != plan_.epoch || done.step != committed()) return;
    if (!membership_.members().count(done.worker)) return;
    if (const std::string fault = history_.fault_in(done.loads); !fault.empty()) {
        return stop(false,
                    fmt::format("worker {} reported {} in step {}", done.worker, fault, done.step),
                    out);
    }
    if (!reported_.empty() && reported_.begin()->second != done.loads) {
        return stop(
            false,
            fmt::format("workers {} and {} disagree about the loads of step {}; loads are global "
                        "and must be equal on every worker",
                        reported_.begin()->first, done.worker, done.step),
            out);
    }
    reported_.emplace(done.worker, done.loads);
    if (!all_reported()) return;
    commit(out);
    continue_after_commit(out);
}

bool Controller::all_reported() const {
    // Nobody is departing while training: leavers were dismissed at Go.
    return std::all_of(membership_.members().begin(), membership_.members().end(),
                       [&](Worker worker) { return reported_.count(worker) > 0; });
}

void Controller::lose_member_while_training(Worker dead, Actions& out) {
    causes_.push_back(fmt::format("death of {}", dead));
    // Every survivor has all the sums of this step: it commits. Not where the step's state is lost
    // with the dead (always so when nobody survives): the commit would only be rolled back.
    if (all_reported() && !holdings_.lost()) {
        commit(out);
        return continue_after_commit(out);
    }
    ++counts_.discarded;
    if (!membership_.members().empty()) out.push_back(Abort{plan_.epoch, dead});
    reconfigure(out);
}

void Controller::commit(Actions& out) {
    const Step step = committed();
    out.push_back(Commit{plan_.epoch, step});
    ++counts_.commits;
    lineage_.push_back({step, plan_.epoch, plan_.training, plan_.holders});
    history_.add(reported_.begin()->second);
    reported_.clear();
    checkpoint_if_due(out);
}

void Controller::checkpoint_if_due(Actions& out) {
    if (config_.checkpoint_every == 0 || committed() % config_.checkpoint_every != 0) return;
    if (committed() >= config_.steps) return;  // nothing follows that could need it
    WriteCheckpoint checkpoint{committed(), holdings_.share_out_writing(),
                               holdings_.dense_holder().value()};
    checkpoints_.begin(checkpoint);
    out.push_back(std::move(checkpoint));
}

void Controller::continue_after_commit(Actions& out) {
    if (committed() >= config_.steps) return stop(true, "all steps are done", out);
    const bool rebalance =
        config_.rebalance_every > 0 && committed() % config_.rebalance_every == 0;
    if (rebalance) {
        ++counts_.rebalances;
        causes_.push_back("rebalance");
        history_.use_window();
    }
    if (joiners_due_) admit_joiners();
    for (Worker leaver : membership_.begin_departures())
        causes_.push_back(fmt::format("leave of {}", leaver));
    if (!causes_.empty()) return reconfigure(out);
    out.push_back(Go{plan_.epoch, committed()});
}

void Controller::handle(const CheckpointWritten& part, Actions&) {
    checkpoints_.written(part.worker, part.step);
}

void Controller::stop(bool ok, std::string why, Actions& out) {
    phase_ = Phase::stopped;
    out.push_back(Stop{ok, std::move(why)});
}

}  // namespace assay::lazarus
