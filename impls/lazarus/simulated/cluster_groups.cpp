// What the workers of a simulated cluster do together.
#include "impls/lazarus/simulated/cluster.hpp"

namespace assay::lazarus {

// Those who see it say so in time; the others wait until they are told to stop.
bool SimulatedCluster::breaks(EpochGroup& group, Together what, const std::vector<Worker>& among) {
    if (among.size() < 2) return false;
    const auto symptoms = trouble_->breaks(what, among);
    for (const Symptom& symptom : symptoms) {
        world_.after(symptom.member, symptom.after_s, [this, symptom, epoch = group.plan.epoch] {
            at(symptom.member).sees(epoch, symptom);
        });
    }
    if (symptoms.empty()) return false;
    group.broken = true;
    return true;
}

// ---- a new group, and the states that travel in it ----------------------------------------------

void SimulatedCluster::enter_group(const std::shared_ptr<EpochGroup>& group) {
    const Reconfigure& plan = group->plan;
    if (++group->arrived < plan.members.size() || breaks(*group, Together::building, plan.members))
        return;
    for (Worker member : plan.members) {
        world_.after(member, durations_.building(plan, member),
                     [this, member, epoch = plan.epoch] { at(member).group_built(epoch); });
    }
}

void SimulatedCluster::inside_group(const std::shared_ptr<EpochGroup>& group, Worker member) {
    const std::size_t place = group->place(member);
    group->inside[place] = true;
    for (std::size_t index : group->moves_of[place]) {
        const EpochGroup::Move& one = group->moves[index];
        if (group->inside[group->place(one.from)] && group->inside[group->place(one.to)])
            move(group, one);
    }
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
    if (!at(one.from).in_transfers_of(epoch) || !at(one.to).in_transfers_of(epoch)) return;
    if (trouble_->damages(one.from, one.to)) {
        return at(one.to).sees(epoch, {.member = one.to,
                                       .cause = drive::Suspicion::Cause::corrupt_message,
                                       .suspect = one.from});
    }
    trouble_->reached(Moment::sending, one.from);
    if (!at(one.from).in_transfers_of(epoch)) return;
    trouble_->reached(Moment::receiving, one.to);
    if (!at(one.from).in_transfers_of(epoch) || !at(one.to).in_transfers_of(epoch)) return;
    states_->moved(one.from, one.to, one.part);
    at(one.from).moved(epoch);
    at(one.to).moved(epoch);
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
                         at(member).sums_finished(group->plan.epoch, step, finite);
                     });
    }
}

}  // namespace assay::lazarus
