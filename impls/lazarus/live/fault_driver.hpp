// Carries out a fault plan on a running training: kills, hangs, stops and joins, each exactly once.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "impls/lazarus/policy/controller.hpp"
#include "suite/cluster/supervisor.hpp"
#include "suite/scenario/fault_plan.hpp"

namespace assay::lazarus {

/// Faults keyed by a step strike while their target waits at the very point (worker.hpp); those
/// that share step and phase strike together, once every target among the members has arrived, or
/// the first has waited for `patience`. Faults keyed by a time are fired by timers; one whose
/// target is not there does not fire. A join or a stop keyed by a step holds that step's commit
/// back until the newcomer has registered or the leaver has given notice, so that it always takes
/// effect from the next step on.
class FaultDriver {
  public:
    using Struck = std::function<void(const Fault&, Worker)>;

    /// `spawn` starts a worker and returns its id; `struck` is told of each injection.
    FaultDriver(FaultPlan plan, cluster::Supervisor& supervisor, std::function<Worker()> spawn,
                Struck struck);

    /// The "points" entry of a worker's configuration.
    nlohmann::json points_for(Worker worker) const;

    void training_started();  ///< starts the timers of faults keyed by time
    /// Who takes part from now on: only they are waited for.
    void on_members(const std::vector<Worker>& members);
    void on_go(Step step);  ///< spawns joins keyed by this step
    void on_point(Worker worker, const std::string& phase, Step step);
    void on_joined(Worker worker);
    void on_leave_requested(Worker worker);
    void on_gone(Worker worker);         ///< dead or dismissed
    bool on_timer(std::uint64_t timer);  ///< true: it was one of ours

    /// Somebody's coming or going is still on its way: hold back what would commit the step.
    bool holds_commit() const { return !awaited_.empty(); }

    long fired() const { return fired_; }

  private:
    using Point = std::pair<std::string, Step>;  // phase and step of a fault

    static constexpr cluster::Seconds patience{2};

    void strike(std::size_t fault, bool release);
    void strike_when_complete(const Point& point);
    void strike_those_waiting(const Point& point);
    bool is_at(const Fault& fault, const Point& point) const;
    std::string phase_of(const Fault& fault) const {
        return fault.phase.empty() ? "step" : fault.phase;
    }

    FaultPlan plan_;
    cluster::Supervisor& supervisor_;
    std::function<Worker()> spawn_;
    Struck struck_;
    std::set<Worker> members_;
    std::vector<bool> done_;                       // per fault: fired, or its target is gone
    std::map<std::size_t, Worker> waiting_;        // fault → its target, which waits at its point
    std::map<std::uint64_t, std::size_t> timers_;  // timer → fault
    std::map<std::uint64_t, Point> patience_;  // timer → the group that has waited for so long
    std::set<Worker> present_;                 // registered and neither dead nor dismissed
    std::set<Worker> awaited_;                 // newcomers and leavers not heard of yet
    long fired_ = 0;
};

}  // namespace assay::lazarus
