// What the workers of a simulated cluster do together.
#include "impls/lazarus/simulated/cluster.hpp"

namespace assay::lazarus {

// Those who see it say so in time; the others wait until they are told to stop.
bool SimulatedCluster::breaks(EpochGroup& group, Together what, const std::vector<Worker>& among) {
    if (among.size() < 2) return false;
    const auto symptoms = trouble_->breaks(what, among);
    for (const Symptom& symptom : symptoms) {
        world_.after(symptom.member, symptom.after_s, [this, symptom, epoch = group.plan.epoch] {
            sees(symptom.member, epoch, symptom);
        });
    }
    if (symptoms.empty()) return false;
    group.broken = true;
    return true;
}

// ---- a new group, and the states that travel in it ----------------------------------------------

void SimulatedCluster::enter_group(EpochGroup& group) {
    const Reconfigure& plan = group.plan;
    if (++group.arrived < plan.members.size() || breaks(group, Together::building, plan.members))
        return;
    for (Worker member : plan.members) {
        const double seconds = durations_.building(plan, member);
        if (at(member).member.epoch() == plan.epoch) at(member).worker.meet(seconds);
    }
}

// The group itself keeps Ready back until every transfer has been asked for.
void SimulatedCluster::inside_group(const std::shared_ptr<EpochGroup>& group, Worker member) {
    if (group->plan.restore_step) return restore(*group, member);
    const std::size_t place = group->place(member);
    at(member).outstanding = 1 + group->moves_of[place].size();
    group->inside[place] = true;
    for (std::size_t index : group->moves_of[place]) {
        const EpochGroup::Move& one = group->moves[index];
        if (group->inside[group->place(one.from)] && group->inside[group->place(one.to)])
            move(group, one);
    }
    one_transfer_less(member);
}

void SimulatedCluster::restore(const EpochGroup& group, Worker id) {
    const Step step = *group.plan.restore_step;
    world_.after(id, durations_.restoring(group.plan, id),
                 [this, id, step, epoch = group.plan.epoch] {
                     if (!in_transfers_of(epoch, id)) return;
                     at(id).member.restored(!torn_.contains(step));
                     at(id).worker.comes_out(drive::Together::done);
                 });
}

bool SimulatedCluster::in_transfers_of(Epoch epoch, Worker id) const {
    const auto& [member, worker, outstanding, waits] = node(id);
    return is_there(id) && member.epoch() == epoch && worker.is_together() &&
           member.phase() == SimulatedMember::Phase::transferring;
}

void SimulatedCluster::one_transfer_less(Worker id) {
    if (--at(id).outstanding == 0) at(id).worker.comes_out(drive::Together::done);
}

// It is the sender's work; a receiver that is frozen gets to it when it wakes.
void SimulatedCluster::move(const std::shared_ptr<EpochGroup>& group, const EpochGroup::Move& one) {
    world_.after(one.from, durations_.moving(group->plan, one.from, one.to), [this, group, &one] {
        if (!is_there(one.to)) return;
        if (is_awake(one.to)) return arrives(*group, one);
        world_.after(one.to, 0, [this, group, &one] { arrives(*group, one); });
    });
}

void SimulatedCluster::arrives(EpochGroup& group, const EpochGroup::Move& one) {
    const Epoch epoch = group.plan.epoch;
    const auto both = [&] {
        return in_transfers_of(epoch, one.from) && in_transfers_of(epoch, one.to);
    };
    if (!both()) return;
    if (trouble_->damages(one.from, one.to)) {
        return sees(one.to, epoch,
                    {.member = one.to,
                     .cause = drive::Suspicion::Cause::corrupt_message,
                     .suspect = one.from});
    }
    trouble_->reached(Moment::sending, one.from);
    if (!in_transfers_of(epoch, one.from)) return;
    trouble_->reached(Moment::receiving, one.to);
    if (!both()) return;
    states_->moved(one.from, one.to, one.part);
    one_transfer_less(one.from);
    if (in_transfers_of(epoch, one.to)) one_transfer_less(one.to);
}

// ---- sums ---------------------------------------------------------------------------------------

void SimulatedCluster::enter_sums(const std::shared_ptr<EpochGroup>& group, Step step) {
    const Reconfigure& plan = group->plan;
    if (group->step != step) {
        group->step = step;
        group->summed = 0;
    }
    if (++group->summed < plan.training.size() || breaks(*group, Together::summing, plan.training))
        return;
    group->loads = std::make_shared<const std::vector<Loads>>(durations_.loads(plan, step));
    const auto not_finite = trouble_->not_finite(plan, step);
    for (Worker member : plan.training) {
        const bool finite = !not_finite.contains(member);
        world_.after(member, durations_.summing(plan, step, member),
                     [this, group, member, step, finite] {
                         // A peer that died or gave up leaves some with the sums, others waiting.
                         if (group->broken && !trouble_->spares_sums(member)) return;
                         Node& node = at(member);
                         if (node.member.group() != group || node.member.next_step() != step ||
                             node.member.phase() != SimulatedMember::Phase::summing)
                             return;
                         node.member.summed(finite);
                         node.worker.comes_out(drive::Together::done);
                     });
    }
}

}  // namespace assay::lazarus
