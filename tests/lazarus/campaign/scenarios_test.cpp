// The table of scenarios in virtual time, each with many ways in which its course can be timed.
#include "tests/lazarus/scenarios.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "impls/lazarus/campaign/hashed_states.hpp"
#include "impls/lazarus/simulated/planned_trouble.hpp"
#include "impls/lazarus/watch/protocol_watch.hpp"
#include "suite/drive/fault_effects.hpp"
#include "suite/drive/simulated/event_queue.hpp"
#include "suite/scenario/dice.hpp"

namespace assay::lazarus {
namespace {

/// About those of small processes, so that a short hang is short here, too.
class DrawnDurations final : public Durations {
  public:
    explicit DrawnDurations(std::uint64_t seed) : dice_(seed) {}
    double starting(Worker) override { return 0; }
    double message(Worker worker) override { return about(0.001, worker); }
    double detection(Worker worker, bool) override { return about(0.05, worker); }
    double eviction(Worker worker) override { return about(0.05, worker); }
    double silence() override { return 1; }
    double patience() override { return 2; }
    double endurance() override { return 20; }
    double building(const Reconfigure& plan, Worker worker) override {
        under_way(transfer_point, plan.resume_step, plan.members);
        return about(0.02, worker);
    }
    double moving(const Reconfigure&, Worker from, Worker) override { return about(0.02, from); }
    double restoring(const Reconfigure&, Worker worker) override { return about(0.02, worker); }
    double computing(const Reconfigure& plan, Step step, Worker worker) override {
        under_way(drive::step_point, step, plan.training);
        return slowdown(worker) * about(0.05, worker);
    }
    double summing(const Reconfigure&, Step, Worker worker) override { return about(0.02, worker); }
    double written(Worker worker, int part, int) override {
        return 0.01 * part + about(0.005, worker);
    }
    std::vector<Loads> loads(const Reconfigure&, Step) override {
        return {Loads{5, 3, 2, 1}, Loads{1, 2, 3, 4}};
    }

    /// Called when these do that.
    std::function<void(std::string_view phase, Step, const std::vector<Worker>&)> under_way;

  private:
    double about(double seconds, Worker worker) {
        return seconds * dice_.next("takes", {worker}).between(0.5, 1.5);
    }
    KeyedDice dice_;
};

/// Carries out faults keyed by step: all those of one together, while it is computed, all those of
/// a new plan's transfers while its group is built.
class SteppedTrouble final : public PlannedTrouble {
  public:
    SteppedTrouble(const FaultPlan& plan, SimulatedCluster& cluster, DrawnDurations& durations)
        : PlannedTrouble({}, cluster), left_(plan.faults) {
        durations.under_way = [this](std::string_view phase, Step step, const auto& workers) {
            this->cluster().time().after(0.005, [=, this] { strike(phase, step, workers); });
        };
    }
    const std::vector<Fault>& left() const { return left_; }

  private:
    void reached(Moment moment, Worker worker) override {
        if (moment == Moment::reconfigure_received)
            strike(regroup_point, cluster().plan().resume_step, {worker});
    }
    void strike(std::string_view phase, Step step, const std::vector<Worker>& among) {
        const auto strikes = [&](const Fault& fault) {
            const auto at = drive::phase_of(fault);
            const bool now = drive::is_of_step(phase) ? drive::is_of_step(at) && *fault.step == step
                                                      : at == phase && *fault.step <= step;
            return now && (!fault.rank || std::count(among.begin(), among.end(), *fault.rank) > 0);
        };
        const auto struck = std::stable_partition(left_.begin(), left_.end(), std::not_fn(strikes));
        const std::vector<Fault> now(struck, left_.end());
        left_.erase(struck, left_.end());
        for (const Fault& fault : now)
            for (int i = 0; i < fault.count; ++i) befall(fault, fault.rank.value_or(-1));
    }

    std::vector<Fault> left_;  // that have not struck
};

/// All rules are kept, and in the end all have the state that the lineage leads to.
class VirtualTraining final : private ClusterObserver {
  public:
    VirtualTraining(const ControllerConfig& job, const FaultPlan& faults, std::uint64_t seed)
        : durations_(seed),
          cluster_(job, time_, durations_),
          trouble_(faults, cluster_, durations_),
          watch_(job),
          states_(job, seed, [](const std::string& wrong) { ADD_FAILURE() << wrong; }) {
        cluster_.attach(static_cast<ClusterObserver&>(*this));
        cluster_.attach(trouble_);
        cluster_.attach(states_);
        for (int i = 0; i < job.initial_workers; ++i) cluster_.spawn();
        while (time_.next()) {
        }
        watch_.finish(controller());
        for (const std::string& broken : watch_.failures()) ADD_FAILURE() << broken;
        EXPECT_EQ(cluster_.complaint(), "");
        EXPECT_TRUE(watch_.stop() && watch_.stop()->ok);
        EXPECT_TRUE(trouble_.left().empty()) << "a fault has not struck";
        const auto& lineage = controller().lineage();
        EXPECT_TRUE(states_.agrees_with(lineage));
        for (const Worker worker : watch_.plan().training)
            EXPECT_TRUE(!cluster_.is_there(worker) ||
                        states_.ends_as(worker, watch_.plan(), lineage))
                << "worker " << worker;
    }
    const Controller& controller() const { return cluster_.controller(); }

  private:
    void before(const Event& event) override { watch_.before(event); }
    void after(const Action& action, const Controller& controller) override {
        watch_.after(action, controller);
        states_.asked_for(action);
    }

    drive::EventQueue time_;
    DrawnDurations durations_;
    SimulatedCluster cluster_;
    SteppedTrouble trouble_;
    ProtocolWatch watch_;
    campaign::HashedStates states_;
};

class VirtualScenarios : public ::testing::TestWithParam<Scenario> {};

TEST_P(VirtualScenarios, KeepEveryRuleAndCountTheSameHoweverTheyAreTimed) {
    const auto job = controller_config(GetParam().settings);
    const auto faults =
        parse_fault_plan(GetParam().faults, {{.name = regroup_point}, {.name = transfer_point}});
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE(seed);
        const VirtualTraining training(job, faults, seed);
        EXPECT_EQ(elastic::counts_of(training.controller().counts(), job.initial_workers),
                  GetParam().counts);
    }
}

INSTANTIATE_TEST_SUITE_P(Scenarios, VirtualScenarios,
                         ::testing::ValuesIn(elastic::rows_of(elastic::Clock::simulated,
                                                              scenarios())),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace assay::lazarus
