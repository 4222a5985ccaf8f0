// Seeded random fault plans: a seed names the same plan everywhere.
#include <algorithm>

#include "suite/scenario/dice.hpp"
#include "suite/scenario/fault_plan.hpp"

namespace assay {
namespace {

struct Target {
    int name;
    long since;  ///< joined, or was last hit, at this step: open to faults at later ones
};

// Kills are what the campaigns are about: they are drawn most often.
FaultKind roll_kind(Dice& dice, const RandomFaults& shape, bool someone_to_hit) {
    std::vector<FaultKind> bag;
    if (someone_to_hit) {
        bag.assign(4, FaultKind::kill);
        bag.push_back(FaultKind::stop);
        if (shape.hangs) bag.insert(bag.end(), 2, FaultKind::hang);
    }
    if (shape.joins) bag.insert(bag.end(), 2, FaultKind::join);
    if (someone_to_hit && shape.network) {
        bag.insert(bag.end(), 2, FaultKind::slow);
        bag.insert(bag.end(), 2, FaultKind::link);
    }
    if (someone_to_hit && shape.data) {
        bag.insert(bag.end(), 2, FaultKind::corrupt);
        for (const FaultKind kind : {FaultKind::nan, FaultKind::torn, FaultKind::disk_full})
            bag.push_back(kind);
    }
    return bag[dice.below(bag.size())];
}

// `least` to `least + n - 1`, over `scale`.
double roll_number(Dice& dice, std::uint64_t least, std::uint64_t n, double scale) {
    return static_cast<double>(least + dice.below(n)) / scale;
}

void roll_link(Dice& dice, Fault& fault) {
    switch (dice.below(5)) {
        case 0:
            fault.cut = true;
            break;
        case 1:
            fault.bandwidth = 1e5 * roll_number(dice, 1, 100, 1);  // 0.1 to 10 MB/s
            break;
        case 2:
            fault.loss = roll_number(dice, 1, 10, 20);
            break;
        case 3:
            fault.loss = roll_number(dice, 1, 4, 20);
            [[fallthrough]];
        default:
            fault.latency_s = roll_number(dice, 1, 20, 1000);
    }
}

// Nothing that takes the worker away: it may be hit again later. A link also occupies its peer.
void roll_disturbance(Dice& dice, Fault& fault, Target& target, std::vector<Target*>& others) {
    target.since = *fault.step;
    if (fault.kind == FaultKind::slow) fault.factor = roll_number(dice, 3, 14, 2);
    if (fault.kind == FaultKind::link) {
        roll_link(dice, fault);
        if (dice.below(2)) {
            Target& peer = *others[dice.below(others.size())];
            fault.peer = peer.name;
            peer.since = *fault.step;
        }
    }
    const bool for_a_while = fault.kind == FaultKind::slow || fault.kind == FaultKind::link ||
                             (fault.kind == FaultKind::disk_full && dice.below(2));
    if (for_a_while) fault.for_s = roll_number(dice, 1, 10, 20);
}

// The first whose messages can be struck; empty: there is none.
std::string corruptible_phase(const FaultPhases& phases) {
    for (const FaultPhase& phase : phases)
        if (phase.corruptible) return phase.name;
    return "";
}

// Even a short hang may end with an eviction.
bool is_departure(FaultKind kind) {
    return kind == FaultKind::kill || kind == FaultKind::stop || kind == FaultKind::hang;
}

}  // namespace

FaultPlan random_fault_plan(const RandomFaults& shape, std::uint64_t seed,
                            const FaultPhases& phases) {
    if (shape.workers < 1 || shape.steps < 2 || shape.faults < 0)
        throw ScenarioError("random faults need at least 1 worker, 2 steps and 0 faults");
    Dice dice(seed);
    std::vector<long> steps;
    // Step 0 is left alone: before it nothing has been trained that could be lost.
    for (int i = 0; i < shape.faults; ++i)
        steps.push_back(1 +
                        static_cast<long>(dice.below(static_cast<std::uint64_t>(shape.steps - 1))));
    std::sort(steps.begin(), steps.end());

    std::vector<Target> unharmed;
    for (int name = 0; name < shape.workers; ++name) unharmed.push_back({name, -1});
    int next_name = shape.workers;
    long last_departure = -1;
    FaultPlan plan;
    for (const long step : steps) {
        // With probability 1/4 hit what an earlier departure has caused.
        const bool again = last_departure >= 0 && dice.below(4) == 0;
        const long at = again ? last_departure : step;
        std::vector<std::size_t> targets;
        for (std::size_t i = 0; i < unharmed.size(); ++i)
            if (unharmed[i].since < at) targets.push_back(i);
        // One worker must stay that nothing happens to which may cost it its place, and it must be
        // there already.
        const bool someone_to_hit = targets.size() > 1;
        if (!someone_to_hit && !shape.joins) continue;
        Fault fault;
        fault.kind = roll_kind(dice, shape, someone_to_hit);
        fault.step = at;
        if (fault.kind == FaultKind::join) {
            fault.step = step;
            unharmed.push_back({next_name++, step});
        } else {
            const std::size_t at_target = dice.below(targets.size());
            const auto target = unharmed.begin() + static_cast<std::ptrdiff_t>(targets[at_target]);
            fault.rank = target->name;
            if (fault.kind == FaultKind::kill && again && !phases.empty())
                fault.phase = phases[phases.size() - 1 - dice.below(phases.size())].name;
            if (fault.kind == FaultKind::hang && dice.below(2))
                fault.for_s = roll_number(dice, 1, 20, 10);
            if (fault.kind == FaultKind::corrupt) {
                fault.target = dice.below(2) ? "message" : "tensor";
                if (again && fault.target == "message" && dice.below(2))
                    fault.phase = corruptible_phase(phases);
            }
            if (is_departure(fault.kind)) last_departure = at;
            if (is_departure(fault.kind) || fault.kind == FaultKind::corrupt) {
                unharmed.erase(target);
            } else {
                std::vector<Target*> others;
                for (const std::size_t i : targets)
                    if (i != targets[at_target]) others.push_back(&unharmed[i]);
                roll_disturbance(dice, fault, *target, others);
            }
        }
        plan.faults.push_back(fault);
    }
    return plan;
}

}  // namespace assay
