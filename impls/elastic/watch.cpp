#include "impls/elastic/watch.hpp"

#include <algorithm>

namespace assay::elastic {
namespace {

bool contains(const std::vector<WorkerId>& workers, WorkerId worker) {
    return std::find(workers.begin(), workers.end(), worker) != workers.end();
}

}  // namespace

// ---- what it is told ----------------------------------------------------------------------------

bool Watch::see(const drive::Died& died) {
    reported_.erase(died.worker);
    return dead_.insert(died.worker).second;
}

bool Watch::see(const StepFailed& failed) {
    if (!going_ || failed.epoch != in_force_.epoch || failed.step != next_ || evicting_ ||
        !contains(in_force_.ranks, failed.worker) || is_dead(failed.worker) || is_troubled())
        return false;
    troubled_ = failed.epoch;
    step_failed_ = true;
    return true;
}

bool Watch::see(const StateDamaged& damaged) {
    const bool counts = damaged.epoch == in_force_.epoch && !is_dead(damaged.worker);
    if (counts) troubled_ = damaged.epoch;
    return counts;
}

bool Watch::see(const CheckpointWritten& part) {
    const auto found = unwritten_.find(part.step);
    if (found == unwritten_.end()) return false;
    found->second.erase(part.worker);
    if (!found->second.empty()) return true;
    complete_.insert(part.step);
    unwritten_.erase(unwritten_.begin(), unwritten_.upper_bound(part.step));
    return true;
}

bool Watch::see(const RestoreFailed& failed) {
    if (failed.epoch != in_force_.epoch || failed.step != in_force_.restore ||
        is_dead(failed.worker) || evicting_ || is_troubled())
        return false;
    troubled_ = failed.epoch;
    complete_.erase(failed.step);
    return true;
}

bool Watch::broke(Epoch epoch, WorkerId suspect) {
    if (epoch != in_force_.epoch || is_troubled()) return false;
    troubled_ = epoch;
    suspect_ = suspect;
    return true;
}

bool Watch::done(WorkerId worker, Epoch epoch, Step step) {
    if (!going_ || epoch != in_force_.epoch || step != next_ || is_dead(worker)) return false;
    reported_.insert(worker);
    return true;
}

bool Watch::is_ready(WorkerId worker, Epoch epoch) {
    if (epoch != in_force_.epoch) return false;
    ready_.insert(worker);
    return true;
}

// ---- steps --------------------------------------------------------------------------------------

void Watch::check(const Go& go) {
    not_while_evicting("Go");
    if (is_troubled() && !(rules_.alone && step_failed_)) fail("Go in an epoch that failed");
    if (rules_.alone) troubled_ = -1;
    if (go.epoch != in_force_.epoch || go.step != next_) fail("Go for a wrong epoch or step");
    for (const WorkerId member : in_force_.members)
        if (!going_ && !ready_.contains(member))
            fail(fmt::format("Go before worker {} was ready", member));
    going_ = true;
    step_failed_ = false;
    reported_.clear();
}

bool Watch::check(const Commit& commit) {
    not_while_evicting("Commit");
    if (!going_ || commit.epoch != in_force_.epoch || commit.step != next_) {
        fail(fmt::format("step {} commits in place of {}", commit.step, next_));
        return false;
    }
    if (step_failed_) fail(fmt::format("step {} commits though it failed", commit.step));
    for (const WorkerId rank : in_force_.ranks)
        if (!is_dead(rank) && !reported_.contains(rank))
            fail(fmt::format("step {} commits without worker {}", commit.step, rank));
    ++next_;
    reported_.clear();
    return true;
}

void Watch::check_order(Step step, const std::vector<WorkerId>& writers) {
    if (step != next_ || !going_) fail("a checkpoint of another step than the last");
    for (const WorkerId writer : writers)
        if (is_dead(writer)) fail(fmt::format("dead worker {} is to write", writer));
    unwritten_[step] = {writers.begin(), writers.end()};
}

// ---- plans --------------------------------------------------------------------------------------

void Watch::check_plan(Members plan) {
    not_while_evicting("Reconfigure");
    if (plan.epoch <= in_force_.epoch)
        fail(fmt::format("epoch {} after {}", plan.epoch, in_force_.epoch));
    for (const WorkerId member : plan.members)
        if (is_dead(member) || dismissed_.contains(member) || !joined_.contains(member))
            fail(fmt::format("epoch {} counts on worker {}, which is gone", plan.epoch, member));
    for (const WorkerId rank : plan.ranks)
        if (!contains(plan.members, rank))
            fail(fmt::format("epoch {}: rank {} is no member", plan.epoch, rank));
    if (plan.restore) {
        if (*plan.restore > 0 && !complete_.contains(*plan.restore))
            fail(
                fmt::format("epoch {} restores {}, which is not whole", plan.epoch, *plan.restore));
        next_ = *plan.restore;
        unwritten_.erase(unwritten_.upper_bound(next_), unwritten_.end());
        complete_.erase(complete_.upper_bound(next_), complete_.end());
    }
    if (plan.resume != next_)
        fail(fmt::format("epoch {} resumes at {} instead of {}", plan.epoch, plan.resume, next_));
    in_force_ = std::move(plan);
    going_ = step_failed_ = false;
    suspect_ = -1;
    ready_.clear();
    reported_.clear();
}

void Watch::check(const Abort& abort) {
    const bool reason = abort.dead == -1 ? is_troubled() : is_dead(abort.dead);
    if (abort.epoch != in_force_.epoch || !reason)
        fail(abort.dead == -1 ? "Abort without a reason" : "Abort without a death");
}

// ---- who goes, and the end ----------------------------------------------------------------------

void Watch::check(const Dismiss& dismiss) {
    if (!leaving_.contains(dismiss.worker))
        fail(fmt::format("worker {} is dismissed but never asked", dismiss.worker));
    if (is_dead(dismiss.worker)) fail(fmt::format("dead worker {} is dismissed", dismiss.worker));
    dismissed_.insert(dismiss.worker);
}

void Watch::check(const drive::Evict& evict) {
    if (!rules_.alone && (!is_troubled() || suspect_ != evict.worker))
        fail(fmt::format("worker {} is evicted without a reason", evict.worker));
    evicting_ = evict.worker;
}

void Watch::not_while_evicting(const char* what) {
    if (!evicting_) return;
    if (!is_dead(*evicting_))
        fail(fmt::format("{} before the end of worker {}, which is evicted", what, *evicting_));
    evicting_.reset();
}

void Watch::check(const drive::Stop& stop) {
    stop_ = stop;
    if (stop.ok && next_ != rules_.steps) fail(fmt::format("stopped ok after {} steps", next_));
}

}  // namespace assay::elastic
