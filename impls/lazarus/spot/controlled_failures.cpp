#include "impls/lazarus/spot/controlled_failures.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "impls/lazarus/data/seeded_shuffle.hpp"
#include "suite/drive/simulated/event_queue.hpp"

namespace assay::lazarus {
namespace {

constexpr std::uint64_t stream = 0x76696374696d73;  // "victims"

class Draw {
  public:
    Draw(const ControlledFailures& failures, std::uint64_t seed)
        : failures_(failures),
          random_(seeded_engine(seed, stream, 0)),
          alive_(static_cast<std::size_t>(failures.nodes)) {
        std::iota(alive_.begin(), alive_.end(), 0);
    }

    const std::vector<int>& alive() const { return alive_; }
    const FaultPlan& plan() const { return plan_; }
    double next_s() const { return double(plan_.faults.size() + 1) * failures_.every_s; }

    /// One of `candidates`, who are alive.
    void kill_one_of(const std::vector<int>& candidates) {
        const int victim = candidates[random_() % candidates.size()];
        Fault kill;
        kill.rank = victim;
        kill.t_s = next_s();
        plan_.faults.push_back(kill);
        std::erase(alive_, victim);
    }

  private:
    ControlledFailures failures_;
    std::mt19937_64 random_;
    std::vector<int> alive_;
    FaultPlan plan_;
};

// Of those alive, who trains in nobody's group once `training` has run to its end.
std::vector<int> idle_in(const ModelledTraining& training, const CostModel& costs,
                         const std::vector<int>& alive) {
    drive::EventQueue time;
    MemoryRecorder unseen;
    const SimulatedCourse course = simulate_training(training, costs, time, unseen);
    std::vector<Worker> used;
    for (const auto& decision : course.decisions)
        for (const Action& action : decision.actions)
            if (const auto* plan = std::get_if<Reconfigure>(&action)) used = plan->training;
    std::vector<int> idle;
    std::copy_if(alive.begin(), alive.end(), std::back_inserter(idle), [&](int node) {
        return std::find(used.begin(), used.end(), Worker(node)) == used.end();
    });
    return idle;
}

}  // namespace

FaultPlan random_victims(const ControlledFailures& failures, std::uint64_t seed) {
    Draw draw(failures, seed);
    for (int i = 0; i < failures.count(); ++i) draw.kill_one_of(draw.alive());
    return draw.plan();
}

FaultPlan idle_first_victims(const ControlledFailures& failures, ModelledTraining rival,
                             const CostModel& costs, std::uint64_t seed) {
    Draw draw(failures, seed);
    for (int i = 0; i < failures.count(); ++i) {
        rival.faults = draw.plan();
        rival.duration_s = draw.next_s();
        const std::vector<int> idle = idle_in(rival, costs, draw.alive());
        draw.kill_one_of(idle.empty() ? draw.alive() : idle);
    }
    return draw.plan();
}

}  // namespace assay::lazarus
