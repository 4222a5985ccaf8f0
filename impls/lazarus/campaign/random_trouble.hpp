// What a schedule draws beyond its fault plan: strikes at points of the protocol, and faults of
// workers that stay alive, of links and of storage, each with its probability where it can happen.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "impls/lazarus/campaign/schedule.hpp"
#include "impls/lazarus/simulated/planned_trouble.hpp"
#include "suite/scenario/dice.hpp"

namespace assay::lazarus::campaign {

class RandomTrouble final : public PlannedTrouble {
  public:
    /// All must outlive it.
    RandomTrouble(const Schedule& schedule, SimulatedCluster& cluster, KeyedDice& dice);

    void reached(Moment, Worker) override;
    bool silences(Worker) override;
    std::vector<Symptom> breaks(Together, const std::vector<Worker>& among) override;
    bool damages(Worker from, Worker to) override;
    bool spares_sums(Worker worker) override { return dice_.next("spares", {worker}).chance(0.5); }
    std::set<Worker> not_finite(const Reconfigure&, Step) override;
    bool changed_state(Worker) override;
    Writing writes(Worker, Step) override;

    /// How often each moment was struck.
    const std::array<long, kMoments>& strikes() const { return strikes_; }
    /// What went wrong, by kind: those of fault plans, and "short_hang" (it ended before anybody
    /// noticed), "stuck" (alive, and silent in its group), "broken" (a group, nobody knows why).
    const std::map<std::string, long>& faults() const { return faults_; }

  private:
    void befall(const Fault&, Worker target) override;
    using Draws = DiceOf<CounterEngine>;
    bool befalls(double odds, const char* kind, Draws& draws);
    bool befalls(double odds, const char* kind, Worker worker);
    static Worker one_of(const std::vector<Worker>& workers, Draws& draws) {
        return workers[draws.below(workers.size())];
    }
    std::optional<Worker> another_than(Worker worker, Draws& draws);
    void hang(Worker, double for_s);
    std::vector<Symptom> with_onlookers(std::optional<Symptom> cause,
                                        const std::vector<Worker>& among, Draws& draws);

    const Schedule& schedule_;
    KeyedDice& dice_;
    int strikes_left_;
    std::optional<Step> poisoned_;
    std::array<long, kMoments> strikes_{};
    std::map<std::string, long> faults_;
};

}  // namespace assay::lazarus::campaign
