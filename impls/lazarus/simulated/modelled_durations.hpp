// Durations by the cost model of a cluster. A step, the states of a new plan and a checkpoint are
// priced as a whole, since their parts wait for each other; messages and starting take no time.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "impls/lazarus/cost/recovery_cost.hpp"
#include "impls/lazarus/cost/step_timeline.hpp"
#include "impls/lazarus/data/routing_replay.hpp"
#include "impls/lazarus/simulated/durations.hpp"
#include "impls/lazarus/simulated/training.hpp"
#include "suite/scenario/cost_model.hpp"

namespace assay::lazarus {

class ModelledDurations final : public Durations {
  public:
    /// Both must outlive it.
    ModelledDurations(const CostModel& costs, const ModelledTraining& training);

    double starting(Worker) override { return 0; }
    double message(Worker) override { return 0; }
    /// Of one in no group only its own launcher has to know.
    double detection(Worker, bool member) override {
        return member ? costs_.cluster().detect_s.value : 0;
    }
    double eviction(Worker) override { return 0; }
    double silence() override { return costs_.cluster().detect_s.value; }
    double patience() override { return costs_.cluster().detect_s.value; }
    double endurance() override;

    void planned(const Reconfigure& plan, const std::vector<Loads>& loads) override {
        loads_of_plans_[plan.epoch] = loads;
    }
    /// The first group is there already, with everyone's state.
    double building(const Reconfigure& plan, Worker) override { return cost_of(plan).regroup_s; }
    double moving(const Reconfigure& plan, Worker, Worker) override {
        return cost_of(plan).transfer_s;
    }
    double restoring(const Reconfigure& plan, Worker) override { return cost_of(plan).transfer_s; }

    /// All of it: everyone waits for everyone in every layer. Slow workers slow down steps that
    /// begin while they are slow.
    double computing(const Reconfigure& plan, Step step, Worker) override {
        return price(plan, step).seconds;
    }
    double summing(const Reconfigure&, Step, Worker) override { return 0; }
    double written(Worker, int part, int parts) override {
        return checkpoint_s_ * ((part + 1.0) / parts);
    }
    std::vector<Loads> loads(const Reconfigure& plan, Step step) override {
        return price(plan, step).loads;
    }

    double checkpoint_s() const { return checkpoint_s_; }

  private:
    struct PricedStep {
        double seconds = 0;
        std::vector<Loads> loads;
    };
    const ReconfigurationCost& cost_of(const Reconfigure& plan);
    const PricedStep& price(const Reconfigure& plan, Step step);
    PricedStep priced(const Reconfigure& plan, Step step);
    struct Routed {
        std::vector<std::vector<Tokens>> tokens;  ///< [layer][experts][ranks]
        std::vector<Loads> loads;
    };
    const Routed& routed_by(Step step, std::size_t workers);

    const CostModel& costs_;
    const ModelledTraining& training_;
    RoutingReplay routing_;
    double checkpoint_s_;
    std::map<std::pair<std::int64_t, std::size_t>, Routed> routed_;  ///< by iteration and workers
    /// That plans were made from, by which nodes deal replicas to their GPUs; of epochs that steps
    /// may still be priced in.
    std::map<Epoch, std::vector<Loads>> loads_of_plans_;
    Epoch epoch_ = -1;  ///< whose cost is …
    ReconfigurationCost cost_;

    // What a step takes depends on who holds what, who is slow, and which iteration is replayed:
    // those that are equal in it are priced once.
    Epoch priced_epoch_ = -1;
    std::vector<double> slowdowns_;                 ///< [worker that trains in it]
    std::optional<StepParticipants> participants_;  ///< in it
    std::map<std::int64_t, PricedStep> prices_;     ///< in it, by iteration
    Step priced_step_ = -1;                         ///< the newest, …
    const PricedStep* newest_ = nullptr;            ///< … and its price
};

}  // namespace assay::lazarus
