#include "impls/lazarus/simulated/member.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "impls/lazarus/simulated/cluster.hpp"

namespace assay::lazarus {

// ---- reconfiguration ----------------------------------------------------------------------------

elastic::Plan SimulatedMember::plan(const drive::AnyMessage& reconfigure) {
    group_ = reconfigure.get<Announced>()->group;
    phase_ = Phase::building;
    gradients_.reset();
    cluster_.states().expects(id_, plan());
    return {.members = group_->members,
            .ranks = group_->ranks,
            .restore = plan().restore_step,
            .resume = plan().resume_step};
}

drive::AnyMessage SimulatedMember::take(const elastic::Plan&) {
    if (plan().restore_step) {
        if (!readable_) return RestoreFailed{id_, epoch(), *plan().restore_step, "torn"};
        cluster_.states().restored(id_, plan());
    }
    return Ready{id_, epoch()};
}

void SimulatedMember::keep(const elastic::Plan&) {
    phase_ = Phase::summing;
    if (goes()) return;
    cluster_.states().adopted(id_, plan());
    if (plan().restore_step) next_step_ = *plan().restore_step;
    // Its state is its peers': it is new, or was left out for a while.
    const std::vector<Worker>& fetch = plan().need_dense;
    if (!ever_went() || std::find(fetch.begin(), fetch.end(), id_) != fetch.end())
        next_step_ = plan().resume_step;
    adopted_ = epoch();
}

// ---- steps --------------------------------------------------------------------------------------

double SimulatedMember::computing(Worker, const elastic::Plan&, Step step) {
    return cluster_.durations().computing(plan(), step, id_);
}

elastic::Outcome SimulatedMember::compute(const elastic::Plan&, const drive::AnyMessage& message) {
    const Go go = message.to<Go>();
    if (go.epoch != epoch())
        cluster_.complain(
            fmt::format("worker {}: Go for epoch {} in epoch {}", id_, go.epoch, epoch()));
    if (go.step != next_step_)
        cluster_.complain(fmt::format("worker {} told to compute step {} with the state before {}",
                                      id_, go.step, next_step_));
    // Nothing is staged: a commit of these sums would be noticed.
    if (!finite_) return {.wrong = "not finite", .done = {}};
    gradients_ = {go.epoch, go.step};
    return {.wrong = {}, .done = group_->done};
}

std::string SimulatedMember::damaged() {
    return cluster_.trouble().changed_state(id_) ? "its state changed in memory" : "";
}

drive::AnyMessage SimulatedMember::apply(Step step) {
    if (gradients_ != std::pair{epoch(), step}) {
        cluster_.complain(fmt::format("worker {} has no sums for the commit of step {} in epoch {}",
                                      id_, step, epoch()));
        return {};
    }
    gradients_.reset();
    ++next_step_;
    cluster_.states().applied(id_, {epoch(), step}, plan());
    return {};
}

// ---- checkpoints and the end --------------------------------------------------------------------

// All parts but the last are written while it writes.
double SimulatedMember::writing(Worker, const drive::AnyMessage& message) {
    const auto& order = message.get<Ordered>()->order;
    if (order->step != next_step_)
        cluster_.complain(fmt::format("worker {} writes step {} with the state before {}", id_,
                                      order->step, next_step_));
    writing_ = cluster_.trouble().writes(id_, order->step);
    return writing_ == Writing::no_space ? 0 : cluster_.write_parts(id_, *order);
}

drive::AnyMessage SimulatedMember::write(const drive::AnyMessage& message, const drive::Strike&) {
    if (writing_ == Writing::no_space) return {};  // what was written is never reported
    const auto& order = message.get<Ordered>()->order;
    cluster_.states().wrote(id_, order->step, order->parts.at(id_).back());
    cluster_.wrote(order, writing_ == Writing::torn);
    return CheckpointWritten{id_, order->step};
}

drive::AnyMessage SimulatedMember::answer(const drive::AnyMessage& question) {
    told_to_stop_ = question.is<Stop>();
    return {};
}

}  // namespace assay::lazarus
