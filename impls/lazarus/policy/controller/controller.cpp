// The controller's settings, and who comes and goes.
#include "impls/lazarus/policy/controller/controller.hpp"

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
    require_at_least("most_retries", config.most_retries, 0);
    if (!(config.join_wait_s >= 0))
        throw std::invalid_argument("Lazarus controller: join_wait_s must be 0 or more");
    if (!(config.checkpoint_wait_s > 0))
        throw std::invalid_argument("Lazarus controller: checkpoint_wait_s must be above 0");
    strategy_ = make_strategy(config);
}

void Controller::on(const Event& event, double /*now_s*/, Actions& out) {
    if (phase_ == Phase::stopped) return;
    std::visit([&](const auto& one) { handle(one, out); }, event);
}

void Controller::handle(const Joined& joined, Actions& out) {
    if (!membership_.join(joined.worker)) return;
    ++counts_.joins;
    if (phase_ == Phase::waiting) return start_if_complete(out);
    if (phase_ == Phase::short_of_workers) {
        end_join_wait();
        if (!joined.more && enough_alive()) reconfigure(out);
    } else if (config_.join_wait_s == 0) {
        joiners_due_ = true;
    } else if (!joiners_due_ && !join_timer_) {
        join_timer_ = ++timers_;
        out.push_back(StartTimer{*join_timer_, config_.join_wait_s});
    }
}

void Controller::handle(const Timer& timer, Actions& out) {
    if (timer.id == save_timer_ && phase_ == Phase::saving) return give_up_saving(out);
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
    if (strategy_->restarts() && !restore_) restart_due_ = true;
    if (phase_ == Phase::training) return lose_member_while_training(died.worker, out);
    causes_.push_back(fmt::format("death of {}", died.worker));
    if (phase_ == Phase::short_of_workers) return;  // one less; there were too few before
    if (phase_ == Phase::evicting && died.worker != evicted_) return;
    // Saving and evicting: nobody computes or transfers any more.
    if (phase_ == Phase::reconfiguring && !membership_.members().empty())
        out.push_back(Abort{plan_.epoch, died.worker});
    reconfigure(out);
}

void Controller::handle(const LeaveRequested& leave, Actions& out) {
    const auto standing = membership_.request_leave(leave.worker);
    if (standing == Membership::Standing::gone) return;
    if (standing == Membership::Standing::member) {
        // No step is running that the leaver would have to finish.
        if (phase_ == Phase::short_of_workers) begin_departures();
        return;
    }
    ++counts_.leaves;
    out.push_back(Dismiss{leave.worker});
    if (phase_ == Phase::waiting) {
        --expected_;
        start_if_complete(out);
    }
}

void Controller::start_if_complete(Actions& out) {
    const auto joined = static_cast<int>(membership_.pending().size());
    if (expected_ <= 0 && joined == 0 && !config_.wait_for_nodes)
        return stop(false, "every worker is gone before training began", out);
    if (joined == 0 || joined < expected_) return;
    causes_ = {"start"};
    reconfigure(out);
}

void Controller::stop(bool ok, std::string why, Actions& out) {
    phase_ = Phase::stopped;
    out.push_back(Stop{ok, std::move(why)});
}

}  // namespace assay::lazarus
