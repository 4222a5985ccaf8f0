#include "impls/lazarus/simulated/worker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "impls/lazarus/simulated/cluster.hpp"

namespace assay::lazarus {

void SimulatedWorker::deliver(Message message) {
    mailbox_.push_back(std::move(message));
    work();
}

void SimulatedWorker::work() {
    while (busy_ == Busy::no && !mailbox_.empty() && cluster_.is_there(id_) &&
           cluster_.is_awake(id_)) {
        const Message message = std::move(mailbox_.front());
        mailbox_.pop_front();
        std::visit([&](const auto& one) { process(one); }, message);
    }
}

void SimulatedWorker::interrupt(Epoch epoch) {
    aborted_ = std::max(aborted_, epoch);
    if (busy_ == Busy::writing || busy_ == Busy::stuck || this->epoch() > aborted_) return;
    busy_ = Busy::no;
    work();
}

void SimulatedWorker::stick() {
    busy_ = Busy::stuck;
    mailbox_.clear();
}

// Something may befall it there. Whether it has reached that point and is no worse for it.
bool SimulatedWorker::goes_on(Moment moment) {
    cluster_.trouble().reached(moment, id_);
    return cluster_.is_there(id_) && busy_ != Busy::stuck;
}

// Nothing that it holds can be trusted any more.
bool SimulatedWorker::notices_changed_state() {
    if (!cluster_.trouble().changed_state(id_)) return false;
    cluster_.exit(id_);
    return true;
}

// ---- what it does together with others ----------------------------------------------------------

// It gives up where that comes to no end, and says so.
void SimulatedWorker::wait_together(Busy how) {
    busy_ = how;
    const double endurance = cluster_.durations().endurance();
    if (std::isinf(endurance)) return;
    cluster_.world().after(id_, endurance, [this, wait = ++waits_] {
        if (wait == waits_ && is_together()) sees(epoch(), {.member = id_});
    });
}

bool SimulatedWorker::is_together() const {
    return busy_ == Busy::building || busy_ == Busy::transferring || busy_ == Busy::summing;
}

void SimulatedWorker::sees(Epoch epoch, const Symptom& symptom) {
    if (this->epoch() != epoch || !is_together()) return;
    group_->broken = true;
    busy_ = Busy::no;
    cluster_.report_broken({.reporter = id_,
                            .epoch = epoch,
                            .cause = symptom.cause,
                            .suspect = symptom.suspect,
                            .why = "in a simulation"});
    work();
}

// ---- reconfiguration ----------------------------------------------------------------------------

void SimulatedWorker::process(const std::shared_ptr<EpochGroup>& group) {
    if (notices_changed_state()) return;
    group_ = group;
    gradients_.reset();
    cluster_.states().expects(id_, plan());
    if (!goes_on(Moment::reconfigure_received)) return;
    if (epoch() <= aborted_) return;  // broken before it began: the next plan is on its way
    wait_together(Busy::building);
    cluster_.enter_group(group_);
}

void SimulatedWorker::group_built(Epoch epoch) {
    if (busy_ != Busy::building || this->epoch() != epoch) return;
    // The group itself keeps Ready back until every transfer has been asked for.
    outstanding_ = 1;
    wait_together(Busy::transferring);
    if (plan().restore_step) return restore();
    outstanding_ += group_->moves_of[group_->place(id_)].size();
    cluster_.inside_group(group_, id_);
    one_transfer_less();
}

void SimulatedWorker::restore() {
    cluster_.world().after(id_, cluster_.durations().restoring(plan(), id_),
                           [this, epoch = epoch()] {
                               if (!in_transfers_of(epoch)) return;
                               const Step step = *plan().restore_step;
                               if (!cluster_.readable(step)) {
                                   busy_ = Busy::no;
                                   cluster_.report(id_, RestoreFailed{id_, epoch, step, "torn"});
                                   return work();
                               }
                               cluster_.states().restored(id_, plan());
                               one_transfer_less();
                           });
}

bool SimulatedWorker::in_transfers_of(Epoch epoch) const {
    return busy_ == Busy::transferring && this->epoch() == epoch && cluster_.is_there(id_);
}

void SimulatedWorker::moved(Epoch epoch) {
    if (in_transfers_of(epoch)) one_transfer_less();
}

void SimulatedWorker::one_transfer_less() {
    if (--outstanding_ > 0) return;
    busy_ = Busy::no;
    cluster_.report(id_, Ready{id_, epoch()});
    if (goes_on(Moment::after_ready)) work();
}

bool SimulatedWorker::adopt_plan() {
    if (adopted_ == 0 && !plan().need_dense.empty() && !goes_on(Moment::joiner_goes)) return false;
    cluster_.states().adopted(id_, plan());
    if (plan().restore_step) next_step_ = *plan().restore_step;
    // Its state is its peers': it is new, or was left out for a while.
    const std::vector<Worker>& fetch = plan().need_dense;
    if (adopted_ == 0 || std::find(fetch.begin(), fetch.end(), id_) != fetch.end())
        next_step_ = plan().resume_step;
    adopted_ = epoch();
    return goes_on(Moment::go_received);
}

// ---- steps --------------------------------------------------------------------------------------

void SimulatedWorker::process(const Go& go) {
    if (go.epoch != epoch())
        return cluster_.complain(
            fmt::format("worker {}: Go for epoch {} in epoch {}", id_, go.epoch, epoch()));
    if (adopted_ != go.epoch && !adopt_plan()) return;
    if (go.step != next_step_) {
        return cluster_.complain(
            fmt::format("worker {} told to compute step {} with the state before {}", id_, go.step,
                        next_step_));
    }
    if (aborted_ >= go.epoch) return;
    busy_ = Busy::computing;
    cluster_.world().after(id_, cluster_.durations().computing(plan(), go.step, id_), [this, go] {
        if (busy_ != Busy::computing || epoch() != go.epoch) return;
        wait_together(Busy::summing);
        cluster_.enter_sums(group_, go.step);
    });
}

void SimulatedWorker::sums_finished(Epoch epoch, Step step, bool finite) {
    if (busy_ != Busy::summing || this->epoch() != epoch || next_step_ != step) return;
    busy_ = Busy::no;
    // Nothing is staged: a commit of these sums would be noticed. Who finds its own state changed
    // fails the step first: what it has sent in it may be wrong too.
    const bool changed = cluster_.trouble().changed_state(id_);
    if (!finite || changed) {
        cluster_.report(id_, StepFailed{id_, epoch, step,
                                        changed ? "its state changed in memory" : "not finite"});
        return changed ? cluster_.exit(id_) : work();
    }
    gradients_ = {epoch, step};
    if (!goes_on(Moment::before_step_done)) return;
    cluster_.report_done(*group_, id_);
    if (goes_on(Moment::after_step_done)) work();
}

void SimulatedWorker::process(const Commit& commit) {
    if (!goes_on(Moment::commit_received) || notices_changed_state()) return;
    if (gradients_ != std::pair{commit.epoch, commit.step}) {
        return cluster_.complain(
            fmt::format("worker {} has no sums for the commit of step {} in epoch {}", id_,
                        commit.step, commit.epoch));
    }
    gradients_.reset();
    ++next_step_;
    cluster_.states().applied(id_, commit, plan());
}

// ---- checkpoints and the end --------------------------------------------------------------------

void SimulatedWorker::process(const std::shared_ptr<const CheckpointOrder>& order) {
    const auto mine = order->parts.find(id_);
    if (mine == order->parts.end()) return;
    if (order->step != next_step_)
        return cluster_.complain(fmt::format("worker {} writes step {} with the state before {}",
                                             id_, order->step, next_step_));
    if (notices_changed_state()) return;
    const Writing what = cluster_.trouble().writes(id_, order->step);
    if (what == Writing::no_space) return;  // what was written is never reported
    busy_ = Busy::writing;
    write_parts(order, mine->second, what == Writing::torn);
}

void SimulatedWorker::write_parts(const std::shared_ptr<const CheckpointOrder>& order,
                                  const std::vector<StatePart>& parts, bool torn) {
    const int count = static_cast<int>(parts.size());
    for (int i = 0; i < count; ++i) {
        const double after_s = cluster_.durations().written(id_, i, count);
        const bool last = i + 1 == count;
        cluster_.world().after(
            id_, after_s, [this, order, torn, last, part = parts[static_cast<std::size_t>(i)]] {
                if (busy_ != Busy::writing) return;
                cluster_.states().wrote(id_, order->step, part);
                if (!last) return cluster_.trouble().reached(Moment::writing_checkpoint, id_);
                busy_ = Busy::no;
                cluster_.wrote(order, torn);
                cluster_.report(id_, CheckpointWritten{id_, order->step});
                work();
            });
    }
}

void SimulatedWorker::process(const Dismiss&) { cluster_.exit(id_); }

}  // namespace assay::lazarus
