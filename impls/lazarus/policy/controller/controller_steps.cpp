// The controller's step protocol: when a step commits, what follows it, and the checkpoints.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "impls/lazarus/policy/controller/controller.hpp"

namespace assay::lazarus {

void Controller::handle(const StepDone& done, Actions& out) {
    if (phase_ != Phase::training || done.epoch != plan_.epoch || done.step != committed()) return;
    if (!membership_.members().count(done.worker)) return;
    if (const std::string fault = history_.fault_in(done.loads); !fault.empty()) {
        return stop(false,
                    fmt::format("worker {} reported {} in step {}", done.worker, fault, done.step),
                    out);
    }
    if (!reported_.empty() && loads_ != done.loads) {
        return stop(
            false,
            fmt::format("workers {} and {} disagree about the loads of step {}; loads are global "
                        "and must be equal on every worker",
                        *reported_.begin(), done.worker, done.step),
            out);
    }
    if (reported_.empty()) loads_ = done.loads;
    reported_.insert(done.worker);
    if (!all_reported()) return;
    commit(out);
    continue_after_commit(out);
}

bool Controller::all_reported() const {
    if (reported_.size() < membership_.members().size()) return false;  // the usual case, at once
    // Nobody is departing while training: leavers were dismissed at Go.
    return std::all_of(membership_.members().begin(), membership_.members().end(),
                       [&](Worker worker) { return reported_.count(worker) > 0; });
}

void Controller::lose_member_while_training(Worker dead, Actions& out) {
    causes_.push_back(fmt::format("death of {}", dead));
    // Every survivor has all the sums of this step: it commits. Not where the step's state is lost
    // with the dead (always so when nobody survives): the commit would only be rolled back.
    if (!restart_due_ && all_reported() && !holdings_.lost()) {
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
    history_.add(loads_);
    reported_.clear();
    failures_in_row_ = corruptions_in_row_ = 0;
    checkpoint_if_due(out);
}

void Controller::checkpoint_if_due(Actions& out) {
    if (config_.checkpoint_every == 0 || committed() % config_.checkpoint_every != 0) return;
    if (committed() >= config_.steps) return;  // nothing follows that could need it
    order_checkpoint(out);
}

void Controller::order_checkpoint(Actions& out) {
    WriteCheckpoint checkpoint{committed(), holdings_.share_out_writing(),
                               holdings_.dense_holder().value()};
    checkpoints_.begin(checkpoint);
    out.push_back(std::move(checkpoint));
}

void Controller::continue_after_commit(Actions& out) {
    if (committed() >= config_.steps) return stop(true, "all steps are done", out);
    if (strategy_->rebalances_after(committed())) {
        ++counts_.rebalances;
        causes_.push_back("rebalance");
        history_.use_window();
    }
    const bool joiners = joiners_due_;
    if (joiners) end_join_wait();
    if (strategy_->restarts()) {
        const bool for_joiners = joiners && restart_is_planned();
        if (for_joiners || membership_.wants_out()) return save_before_restart(out);
        return go_on(out);
    }
    begin_departures();
    admit_newcomers();
    go_on(out);
}

void Controller::go_on(Actions& out) {
    if (!causes_.empty()) return reconfigure(out);
    phase_ = Phase::training;
    out.push_back(Go{plan_.epoch, committed()});
}

void Controller::handle(const CheckpointWritten& part, Actions& out) {
    checkpoints_.written(part.worker, part.step);
    if (phase_ == Phase::saving && checkpoints_.newest_complete() == committed())
        restart_as_planned(out);
}

// ---- planned restarts (Strategy::restarts) ----------------------------------------------

bool Controller::restart_is_planned() const {
    const std::size_t now = membership_.training().size();
    return membership_.wants_out() || usable(now + membership_.newcomers().size()) > now;
}

void Controller::save_before_restart(Actions& out) {
    phase_ = Phase::saving;
    if (!checkpoints_.under_way(committed())) order_checkpoint(out);
    save_timer_ = ++timers_;
    out.push_back(StartTimer{*save_timer_, config_.checkpoint_wait_s});
}

void Controller::restart_as_planned(Actions& out) {
    save_timer_.reset();
    if (joiners_due_) end_join_wait();
    if (!restart_is_planned()) return go_on(out);  // those who were to join are gone again
    ++counts_.planned_restarts;
    restart_reason_ = RestartReason::planned;
    begin_departures();
    restore_ = committed();
    holdings_.clear();
    reconfigure(out);
}

void Controller::give_up_saving(Actions& out) {
    save_timer_.reset();
    if (!membership_.wants_out()) return go_on(out);
    causes_.push_back(fmt::format("checkpoint {} was not written in time", committed()));
    begin_departures();
    restart_due_ = true;
    reconfigure(out);
}

}  // namespace assay::lazarus
