// Seeded random fault plans. The standard's distributions differ between libraries, so the few that
// are needed are written out: a seed names the same plan everywhere.
#include <algorithm>
#include <random>

#include "suite/scenario/fault_plan.hpp"

namespace assay {
namespace {

class Dice {
  public:
    explicit Dice(std::uint64_t seed) : engine_(seed) {}

    // Uniform in [0, n), without the bias of a bare remainder.
    std::uint64_t below(std::uint64_t n) {
        const std::uint64_t fair = UINT64_MAX - UINT64_MAX % n;
        std::uint64_t roll;
        do roll = engine_();
        while (roll >= fair);
        return roll % n;
    }

  private:
    std::mt19937_64 engine_;
};

struct Worker {
    int name;
    long since;  ///< takes part in steps after this one
};

// Kills are what the campaigns are about; the others season them.
FaultKind roll_kind(Dice& dice, const RandomFaults& shape, bool someone_to_hit) {
    std::vector<FaultKind> bag;
    if (someone_to_hit) {
        bag.assign(4, FaultKind::kill);
        bag.push_back(FaultKind::stop);
        if (shape.hangs) bag.insert(bag.end(), 2, FaultKind::hang);
    }
    if (shape.joins) bag.insert(bag.end(), 2, FaultKind::join);
    return bag[dice.below(bag.size())];
}

}  // namespace

FaultPlan random_fault_plan(const RandomFaults& shape, std::uint64_t seed) {
    if (shape.workers < 1 || shape.steps < 2 || shape.faults < 0)
        throw ScenarioError("random faults need at least 1 worker, 2 steps and 0 faults");
    Dice dice(seed);
    std::vector<long> steps;
    // Step 0 is left alone: before it nothing has been trained that could be lost.
    for (int i = 0; i < shape.faults; ++i)
        steps.push_back(1 +
                        static_cast<long>(dice.below(static_cast<std::uint64_t>(shape.steps - 1))));
    std::sort(steps.begin(), steps.end());

    std::vector<Worker> untouched;
    for (int name = 0; name < shape.workers; ++name) untouched.push_back({name, -1});
    int next_name = shape.workers;
    long last_departure = -1;
    FaultPlan plan;
    for (const long step : steps) {
        // With probability 1/4 hit the regroup that an earlier departure has caused.
        const bool again = last_departure >= 0 && dice.below(4) == 0;
        const long at = again ? last_departure : step;
        std::vector<std::size_t> targets;
        for (std::size_t i = 0; i < untouched.size(); ++i)
            if (untouched[i].since < at) targets.push_back(i);
        // One worker that nothing happens to must stay, and it must be there already.
        const bool someone_to_hit = targets.size() > 1;
        if (!someone_to_hit && !shape.joins) continue;
        Fault fault;
        fault.kind = roll_kind(dice, shape, someone_to_hit);
        fault.step = at;
        if (fault.kind == FaultKind::join) {
            fault.step = step;
            untouched.push_back({next_name++, step});
        } else {
            const std::size_t target = targets[dice.below(targets.size())];
            fault.rank = untouched[target].name;
            untouched.erase(untouched.begin() + static_cast<std::ptrdiff_t>(target));
            if (fault.kind == FaultKind::kill && again)
                fault.phase = dice.below(2) ? "regroup" : "transfer";
            if (fault.kind == FaultKind::hang && dice.below(2))
                fault.for_s = static_cast<double>(1 + dice.below(20)) / 10;
            last_departure = at;
        }
        plan.faults.push_back(fault);
    }
    return plan;
}

}  // namespace assay
