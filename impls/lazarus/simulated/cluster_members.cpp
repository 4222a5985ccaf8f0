// What the members of a simulated cluster say and reach, one by one.
#include <cmath>

#include "impls/lazarus/simulated/cluster.hpp"
#include "suite/drive/fault_effects.hpp"

namespace assay::lazarus {

// A StepDone is filled in when it is there.
void SimulatedCluster::says(Worker id, drive::AnyMessage message) {
    if (!message.is<StepDone>()) return report(id, message.to<Event>());
    const EpochGroup& group = *at(id).member.group();
    world_.to_policy(id,
                     [this, id, epoch = group.plan.epoch, step = group.step, loads = group.loads] {
                         decide(StepDone{id, epoch, step, *loads});
                     });
}

// By itself: what it has said is heard.
void SimulatedCluster::ends(Worker id, const std::string&) {
    end_process(id, "exit", /*silenced=*/false);
}

// Something may befall it there. Whether it has reached that point and is no worse for it; one that
// is frozen ends what it has begun.
bool SimulatedCluster::reaches(Moment moment, Worker id) {
    trouble_->reached(moment, id);
    return is_there(id) && !is_stuck(id);
}

bool SimulatedCluster::passes(Worker id, std::string_view phase, long) {
    const SimulatedMember& member = at(id).member;
    if (phase == drive::start_point) {
        if (member.goes()) return true;
        if (!member.ever_went() && !member.group()->plan.need_dense.empty() &&
            !reaches(Moment::joiner_goes, id))
            return false;
        return reaches(Moment::go_received, id);
    }
    if (phase == elastic::computed_point) return reaches(Moment::before_step_done, id);
    if (phase == elastic::told_point) return reaches(Moment::after_step_done, id);
    if (phase == elastic::commit_point) return reaches(Moment::commit_received, id);
    if (phase == elastic::ready_point) return reaches(Moment::after_ready, id);
    return phase != regroup_point || reaches(Moment::reconfigure_received, id);
}

// It gives up where what it does with others comes to no end, and says so.
void SimulatedCluster::arrives(Worker id, const drive::Group&, double) {
    Node& node = at(id);
    const auto group = node.member.group();
    const auto endure = [&] {
        const double endurance = durations_.endurance();
        if (std::isinf(endurance)) return;
        world_.after(id, endurance, [this, id, wait = ++at(id).waits] {
            if (wait == at(id).waits) sees(id, at(id).member.epoch(), {.member = id});
        });
    };
    endure();
    switch (node.member.phase()) {
        case SimulatedMember::Phase::building:
            return enter_group(*group);
        case SimulatedMember::Phase::transferring:
            return inside_group(group, id);
        case SimulatedMember::Phase::summing:
            return enter_sums(group, node.member.next_step());
    }
}

void SimulatedCluster::sees(Worker id, Epoch epoch, const Symptom& symptom) {
    Node& node = at(id);
    if (node.member.epoch() != epoch || !node.worker.is_together()) return;
    node.member.group()->broken = true;
    report_broken({.reporter = id,
                   .epoch = epoch,
                   .cause = symptom.cause,
                   .suspect = symptom.suspect,
                   .why = "in a simulation"});
    node.worker.comes_out(drive::Together::broken);
}

double SimulatedCluster::write_parts(Worker id, const CheckpointOrder& order) {
    const auto& parts = order.parts.at(id);
    const int count = static_cast<int>(parts.size());
    for (int i = 0; i + 1 < count; ++i) {
        world_.after(id, durations_.written(id, i, count),
                     [this, id, step = order.step, part = parts[static_cast<std::size_t>(i)]] {
                         if (is_stuck(id)) return;
                         states_->wrote(id, step, part);
                         trouble_->reached(Moment::writing_checkpoint, id);
                     });
    }
    return durations_.written(id, count - 1, count);
}

void SimulatedCluster::wrote(const std::shared_ptr<const CheckpointOrder>& order, bool torn) {
    if (torn && orders_.at(order->step) == order) torn_.insert(order->step);
}

}  // namespace assay::lazarus
