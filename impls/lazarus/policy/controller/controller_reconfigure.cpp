// The controller's reconfiguration protocol: from a changed membership or load to a new epoch whose
// members hold what its plan gives them (paper section 4.3).
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "impls/lazarus/policy/controller/controller.hpp"
#include "impls/lazarus/policy/controller/reconfiguration.hpp"

namespace assay::lazarus {

void Controller::reconfigure(Actions& out) {
    if (!enough_alive()) return wait_or_stop(out);
    const bool waited = phase_ == Phase::short_of_workers;
    bool from_storage = restore_.has_value();
    if (!from_storage) {
        std::optional<RestartReason> restart;
        if (restart_due_) {
            restart = RestartReason::every_loss;
        } else if (const auto lost = holdings_.lost()) {
            causes_.push_back(fmt::format("lost expert {} of layer {}", lost->expert, lost->layer));
            restart = waited ? RestartReason::too_few_survivors : RestartReason::no_replica_left;
        } else {
            // Joiners are taken in out of turn where the others are too few.
            if (usable(membership_.training().size()) == 0) {
                end_join_wait();
                admit_newcomers();
            }
            if (usable(membership_.training().size()) == 0) {
                causes_.push_back("too few nodes in whole groups");
                restart = RestartReason::too_few_survivors;
            }
        }
        from_storage = restart.has_value();
        if (restart) fall_back(*restart);
    }
    if (from_storage) {  // nobody has state that others would have to wait for
        end_join_wait();
        membership_.recall_dropped();
        admit_newcomers();
    }
    leave_out_surplus(from_storage, out);
    announce(out);
}

void Controller::leave_out_surplus(bool from_storage, Actions& out) {
    const bool may_come_back = strategy_->surplus_stays();
    const std::vector<Worker> training = membership_.training();
    std::vector<int> surplus;
    if (usable(training.size()) < training.size())
        surplus = strategy_->surplus(holdings_.table(training));
    std::vector<Worker> stateless, used;
    for (int index : surplus) {
        const Worker worker = training[static_cast<std::size_t>(index)];
        (holdings_.has_state(worker) ? used : stateless).push_back(worker);
        holdings_.forget(worker);
    }
    std::vector<Worker> leavers = membership_.leave_out(stateless, from_storage && !may_come_back);
    for (Worker worker : membership_.leave_out(used, !may_come_back)) leavers.push_back(worker);
    for (Worker leaver : leavers) {
        ++counts_.leaves;
        out.push_back(Dismiss{leaver});
    }
    // Those for whom there is no place in the first groups, or after a restart.
    if (from_storage && !may_come_back) membership_.drop_newcomers();
}

void Controller::announce(Actions& out) {
    phase_ = Phase::reconfiguring;
    ++counts_.reconfigurations;
    ready_.clear();
    reported_.clear();
    const std::vector<Worker> members(membership_.members().begin(), membership_.members().end());
    plan_ = plan_reconfiguration(*strategy_, members, membership_.training(), holdings_,
                                 history_.loads_for_plan(), restore_.has_value());
    plan_.epoch = counts_.reconfigurations;
    plan_.restore_step = restore_;
    plan_.resume_step = committed();
    plan_.why = fmt::format("{}", fmt::join(causes_, ", "));
    out.push_back(plan_);
}

void Controller::handle(const Ready& ready, Actions& out) {
    if (phase_ != Phase::reconfiguring || ready.epoch != plan_.epoch) return;
    if (!membership_.members().count(ready.worker)) return;
    ready_.insert(ready.worker);
    if (ready_.size() == membership_.members().size()) finish_reconfiguration(out);
}

void Controller::finish_reconfiguration(Actions& out) {
    holdings_.assign(plan_.training, plan_.holders);
    counts_.transfers += static_cast<long>(plan_.transfers.size());
    restore_.reset();
    causes_.clear();
    for (Worker leaver : membership_.dismiss_departing()) {
        ++counts_.leaves;
        out.push_back(Dismiss{leaver});
    }
    if (committed() >= config_.steps) return stop(true, "all steps are done", out);
    phase_ = Phase::training;
    out.push_back(Go{plan_.epoch, committed()});
}

// ---- who takes part ----------------------------------------------------------------------------

std::size_t Controller::usable(std::size_t workers) const {
    return static_cast<std::size_t>(strategy_->usable(static_cast<int>(workers)));
}

bool Controller::enough_alive() const {
    return usable(membership_.training().size() + membership_.pending().size() +
                  membership_.newcomers().size() + membership_.dropped().size()) > 0;
}

void Controller::end_join_wait() {
    membership_.end_join_wait();
    joiners_due_ = false;
    join_timer_.reset();  // a timer still running finds nobody waiting for it
}

void Controller::admit_newcomers() {
    const std::size_t now = membership_.training().size();
    const std::size_t most = usable(now + membership_.newcomers().size());
    if (most <= usable(now) || most <= now) return;
    for (Worker joiner : membership_.admit(most - now)) {
        if (phase_ != Phase::waiting) causes_.push_back(fmt::format("join of {}", joiner));
    }
}

void Controller::begin_departures() {
    for (Worker leaver : membership_.begin_departures())
        causes_.push_back(fmt::format("leave of {}", leaver));
}

// ---- back to a checkpoint, or not at all -------------------------------------------------------

void Controller::fall_back(RestartReason reason) {
    restart_reason_ = reason;
    ++counts_.fallbacks;
    if (reason == RestartReason::no_replica_left) ++counts_.no_replica_left;
    if (reason == RestartReason::too_few_survivors) ++counts_.too_few_survivors;
    if (reason == RestartReason::every_loss) ++counts_.every_loss;
    restart_due_ = false;
    roll_back_to(checkpoints_.newest_complete());
}

void Controller::roll_back_to(Step step) {
    restore_ = step;
    counts_.rolled_back += static_cast<long>(committed() - step);
    lineage_.resize(static_cast<std::size_t>(step));
    checkpoints_.forget_after(step);
    history_.clear();
    holdings_.clear();
    failures_in_row_ = corruptions_in_row_ = 0;
}

void Controller::wait_or_stop(Actions& out) {
    if (!config_.wait_for_nodes) return stop(false, why_impossible(), out);
    phase_ = Phase::short_of_workers;
    ++counts_.waits;
    reported_.clear();
    end_join_wait();     // whoever joins is taken as soon as there are enough
    begin_departures();  // no step is running that leavers would have to finish
}

std::string Controller::why_impossible() const {
    const std::size_t workers = membership_.training().size() + membership_.newcomers().size() +
                                membership_.dropped().size() + membership_.pending().size();
    if (workers == 0) {
        return fmt::format("every worker is gone ({} died, {} left) after {} of {} steps",
                           counts_.deaths, counts_.leaves, committed(), config_.steps);
    }
    return strategy_->too_few(static_cast<int>(workers));
}

}  // namespace assay::lazarus
