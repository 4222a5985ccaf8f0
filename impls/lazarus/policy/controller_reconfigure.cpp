// The controller's reconfiguration protocol: from a changed membership or load to a new epoch whose
// members hold what its plan gives them (paper section 4.3).
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "impls/lazarus/policy/controller.hpp"
#include "impls/lazarus/policy/reconfiguration.hpp"

namespace assay::lazarus {

void Controller::reconfigure(Actions& out) {
    const auto lost = restore_ ? std::nullopt : holdings_.lost();
    // Joiners are taken in out of turn where nobody has state that they would have to wait for, or
    // where the others are too few.
    if (restore_ || lost || !feasible()) admit_joiners();
    if (!feasible()) return stop(false, why_impossible(), out);
    if (lost) fall_back(lost->layer, lost->expert);

    phase_ = Phase::reconfiguring;
    ++counts_.reconfigurations;
    ready_.clear();
    reported_.clear();
    const std::vector<Worker> members(membership_.members().begin(), membership_.members().end());
    plan_ = plan_reconfiguration(config_, members, membership_.training(), holdings_,
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

bool Controller::feasible() const {
    return static_cast<long long>(membership_.training().size()) * config_.slots >= config_.experts;
}

void Controller::admit_joiners() {
    for (Worker joiner : membership_.admit_pending())
        causes_.push_back(fmt::format("join of {}", joiner));
    joiners_due_ = false;
    join_timer_.reset();  // a timer still running finds nobody waiting for it
}

void Controller::fall_back(int layer, int expert) {
    causes_.push_back(fmt::format("lost expert {} of layer {}", expert, layer));
    restore_ = checkpoints_.newest_complete();
    ++counts_.fallbacks;
    counts_.rolled_back += static_cast<long>(committed() - *restore_);
    lineage_.resize(static_cast<std::size_t>(*restore_));
    checkpoints_.forget_after(*restore_);
    history_.clear();
    holdings_.clear();
}

std::string Controller::why_impossible() const {
    const std::size_t workers = membership_.training().size();
    if (workers == 0) {
        return fmt::format("every worker is gone ({} died, {} left) after {} of {} steps",
                           counts_.deaths, counts_.leaves, committed(), config_.steps);
    }
    return fmt::format(
        "{} worker{} with {} slot{} each cannot hold {} experts per layer: start more workers or "
        "give "
        "them more slots",
        workers, workers == 1 ? "" : "s", config_.slots, config_.slots == 1 ? "" : "s",
        config_.experts);
}

}  // namespace assay::lazarus
