#include "impls/lazarus/simulated/planned_trouble.hpp"

#include <stdexcept>
#include <utility>

namespace assay::lazarus {

using Cause = drive::Suspicion::Cause;

PlannedTrouble::PlannedTrouble(FaultPlan plan, SimulatedCluster& cluster, Struck struck)
    : plan_(std::move(plan)), cluster_(cluster), struck_(std::move(struck)) {}

void PlannedTrouble::begins() {
    for (const Fault& fault : plan_.faults)
        if (fault.t_s) cluster_.time().after(*fault.t_s, [this, &fault] { fire(fault); });
}

void PlannedTrouble::fire(const Fault& fault) {
    if (cluster_.controller().stopped()) return;
    const bool join = fault.kind == FaultKind::join;
    if (!join && !cluster_.is_there(*fault.rank)) return;
    for (int i = 0; i < fault.count; ++i) {
        const Worker target = join ? cluster_.size() : *fault.rank;
        if (struck_) struck_(fault, target);
        befall(fault, target);
    }
}

double PlannedTrouble::end_of(const Fault& fault) const {
    return cluster_.now() + fault.for_s.value_or(drive::SimulatedWorld::forever);
}

void PlannedTrouble::befall(const Fault& fault, Worker target) {
    switch (fault.kind) {
        case FaultKind::kill:
            return cluster_.kill(target);
        case FaultKind::hang:
            return cluster_.hang(target, fault.for_s.value_or(drive::SimulatedWorld::forever));
        case FaultKind::stop:
            return cluster_.leave(target);
        case FaultKind::join:
            cluster_.spawn();
            return;
        case FaultKind::slow:
            cluster_.durations().slow(target, fault.factor);
            if (fault.for_s)
                cluster_.time().after(*fault.for_s,
                                      [this, target] { cluster_.durations().slow(target, 1); });
            return;
        case FaultKind::link:
            return cluster_.durations().links().spoil(fault, end_of(fault));
        case FaultKind::corrupt:
            (fault.target == "tensor" ? changed_ : corrupt_next_).insert(target);
            return;
        case FaultKind::nan:
            poisoned_.insert(target);
            return;
        case FaultKind::torn:
            tear_next_.insert(target);
            return;
        case FaultKind::disk_full:  // without an end: one checkpoint
            disk_full_until_s_[target] = fault.for_s ? end_of(fault) : cluster_.now();
            return;
        case FaultKind::wipe:
        case FaultKind::gpu_error:
            throw std::logic_error("a fault of engines in a training");
    }
}

std::vector<Symptom> PlannedTrouble::breaks(Together what, const std::vector<Worker>& among) {
    if (what == Together::summing && !corrupt_next_.empty()) {
        for (Worker sender : among) {
            if (!corrupt_next_.erase(sender)) continue;
            const Worker receiver = among[among[0] == sender ? 1 : 0];
            return {{.member = receiver, .cause = Cause::corrupt_message, .suspect = sender}};
        }
    }
    const double endurance = cluster_.durations().endurance();
    const auto worst = cluster_.durations().links().worst_among(among, cluster_.now());
    if (worst.delay_s < endurance) return {};
    // A little before the others give up, who do not know why.
    return {{.member = worst.end,
             .after_s = 0.9 * endurance,
             .cause = Cause::unreachable,
             .suspect = worst.end}};
}

bool PlannedTrouble::damages(Worker from, Worker) { return corrupt_next_.erase(from) > 0; }

std::set<Worker> PlannedTrouble::not_finite(const Reconfigure& plan, Step) {
    bool spread = false;
    if (!poisoned_.empty())
        for (Worker worker : plan.training) spread |= poisoned_.erase(worker) > 0;
    if (!spread) return {};
    return {plan.training.begin(), plan.training.end()};
}

Writing PlannedTrouble::writes(Worker worker, Step) {
    if (const auto full = disk_full_until_s_.find(worker); full != disk_full_until_s_.end()) {
        if (cluster_.now() >= full->second) disk_full_until_s_.erase(full);
        return Writing::no_space;
    }
    return tear_next_.erase(worker) ? Writing::torn : Writing::whole;
}

}  // namespace assay::lazarus
