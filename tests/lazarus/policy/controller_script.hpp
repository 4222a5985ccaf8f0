// Drives a controller by hand, for tests of single rules: feeds events, keeps the actions of the
// last one, and answers on behalf of all live workers where a test does not care.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "impls/lazarus/policy/controller/controller.hpp"

namespace assay::lazarus {

/// Four experts in one layer on four nodes of two slots, so that the coldest pair and the hottest
/// pair of experts have two holders each.
inline ControllerConfig small_job() {
    ControllerConfig job;
    job.layers = 1;
    job.experts = 4;
    job.slots = 2;
    job.initial_workers = 4;
    job.steps = 100;
    job.rebalance_every = 0;
    return job;
}

class Script {
  public:
    explicit Script(ControllerConfig job) : job_(job), controller(job) {}

    /// Feeds one event; `actions` are those it caused.
    void feed(const Event& event) {
        actions.clear();
        controller.on(event, 0, actions);
        for (const Action& action : actions) {
            if (const auto* plan = std::get_if<Reconfigure>(&action)) plan_ = *plan;
        }
    }

    void join(Worker worker) { feed(Joined{worker}); }
    void die(Worker worker) { feed(Died{worker}); }
    void leave(Worker worker) { feed(LeaveRequested{worker}); }

    void start() {
        for (Worker worker = 0; worker < job_.initial_workers; ++worker) join(worker);
        all_ready();
    }
    /// Every member of the plan reports Ready; `actions` are those of the last report.
    void all_ready() {
        const Reconfigure plan = plan_;
        for (Worker worker : plan.members) feed(Ready{worker, plan.epoch});
    }
    void done(Worker worker) { done(worker, even_loads()); }
    void done(Worker worker, std::vector<Loads> loads) {
        feed(StepDone{worker, plan_.epoch, controller.committed(), std::move(loads)});
    }
    /// All training workers report the running step; `actions` are those of the last report.
    void step() { step(even_loads()); }
    void step(const std::vector<Loads>& loads) {
        const Reconfigure plan = plan_;
        const Step running = controller.committed();
        for (Worker worker : plan.training) feed(StepDone{worker, plan.epoch, running, loads});
    }
    void steps(int count) {
        for (int i = 0; i < count; ++i) step();
    }

    template <class Kind>
    const Kind* last() const {
        const Kind* found = nullptr;
        for (const Action& action : actions) {
            if (const auto* one = std::get_if<Kind>(&action)) found = one;
        }
        return found;
    }
    /// The kinds of the last actions, in order: "Commit Go".
    std::string kinds() const {
        static const char* const names[] = {
            "Reconfigure", "Go",    "Dismiss",    "Commit", "WriteCheckpoint",
            "Abort",       "Evict", "StartTimer", "Stop"};
        std::string kinds;
        for (const Action& action : actions)
            kinds += (kinds.empty() ? "" : " ") + std::string(names[action.index()]);
        return kinds;
    }
    const Reconfigure& plan() const { return plan_; }
    std::vector<Loads> even_loads() const {
        return std::vector<Loads>(static_cast<std::size_t>(job_.layers),
                                  Loads(static_cast<std::size_t>(job_.experts), 8));
    }
    /// Workers that hold an expert by the current plan.
    std::vector<Worker> holders(int layer, int expert) const {
        std::vector<Worker> holders;
        for (std::size_t i = 0; i < plan_.training.size(); ++i) {
            const auto& slots = plan_.holders[static_cast<std::size_t>(layer)][i];
            if (std::set<int>(slots.begin(), slots.end()).count(expert))
                holders.push_back(plan_.training[i]);
        }
        return holders;
    }
    /// Kills every holder of expert 0 of layer 0, which loses it.
    void lose_expert_zero() {
        for (Worker worker : std::vector<Worker>(holders(0, 0))) die(worker);
    }

    ControllerConfig job_;
    Controller controller;
    Actions actions;

  private:
    Reconfigure plan_{};
};

}  // namespace assay::lazarus
