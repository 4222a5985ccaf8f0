// Carries out a fault plan on running workers, each fault exactly once.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "suite/cluster/processes/supervisor.hpp"
#include "suite/drive/fault_effects.hpp"
#include "suite/drive/policy.hpp"
#include "suite/drive/processes/scenario_clock.hpp"
#include "suite/scenario/fault_plan.hpp"

namespace assay::drive {

/// Faults keyed by a step strike while their target waits at the very point (FaultPoint); those
/// that share step and phase strike together, once every target among the members has arrived, or
/// the first has waited for `patience`. Faults keyed by a time are fired by timers; one whose
/// target is not there does not fire. A join or a stop keyed by a step holds that step's commit
/// back until the newcomer has registered or the leaver has given notice, so that it always takes
/// effect from the next step on; in a paced run one keyed by a time does the same.
///
/// Kills, hangs, stops and joins are the supervisor's business; a slow worker is the supervisor's
/// or the pacer's; the others happen inside the worker, which is told to (worker_process.hpp).
class FaultDriver {
  public:
    struct Hooks {
        /// Starts a worker, returns its id; `more`: others of the same fault follow.
        std::function<WorkerId(const Fault&, bool more)> spawn;
        /// When a fault has struck, and counts. `means`: "quota" or "duty_cycle", by which the
        /// supervisor slows a worker; else empty.
        std::function<void(const Fault&, WorkerId, std::string_view means)> strikes;
        std::function<void(double t_s, std::function<void()>)> at;  ///< in scenario time
        std::function<double()> now;
        /// Whom a fault means, if it is there, and whether it means this one.
        std::function<std::optional<WorkerId>(const Fault&)> target;
        std::function<bool(const Fault&, WorkerId)> is_target;
        std::function<void(WorkerId)> resume;  ///< from the point at which it waits
        /// Tells it to do a fault to itself (injection.hpp).
        std::function<void(const nlohmann::json& message, WorkerId)> inject;
        /// A slow fault begins or (factor 1) ends; empty: the supervisor takes processor time away.
        std::function<void(WorkerId, double factor)> pace;
    };
    /// Throws NotSupportedHere for a plan that wants a quota where there is none, UserError for one
    /// that says how to slow a worker in a paced run.
    FaultDriver(FaultPlan plan, cluster::Supervisor& supervisor, const ScenarioClock& clock,
                Hooks hooks);

    /// The "points" entry of a worker's configuration.
    nlohmann::json points_for(WorkerId worker) const;

    void begin();  ///< starts the timers of faults keyed by time
    /// Who takes part from now on: only they are waited for.
    void on_members(const std::vector<WorkerId>& members);
    void on_step(long step);  ///< begins: spawns joins keyed by it
    void on_point(WorkerId worker, const std::string& phase, long step);
    void on_joined(WorkerId worker);
    void on_leave_requested(WorkerId worker);
    void on_gone(WorkerId worker);                       ///< dead or dismissed
    void on_struck(std::size_t fault, WorkerId worker);  ///< it says that one inside it has struck
    void strike_now(const Fault& fault);                 ///< one that is not of the plan
    bool on_timer(std::uint64_t timer);                  ///< true: it was one of ours

    /// Somebody's coming or going is still on its way: hold back what would commit the step.
    bool holds_commit() const { return !awaited_.empty(); }

    long fired() const { return fired_; }
    /// Times at which a join is still to come: worth waiting for.
    bool joins_to_come() const;
    /// Those, or someone whose coming or going is on its way.
    bool expects_joins() const { return joins_to_come() || holds_commit(); }

  private:
    using Point = std::pair<std::string, long>;  // phase and step of a fault

    static constexpr cluster::Seconds patience{2};

    void strike_at_time(std::size_t fault);
    void strike(std::size_t fault, WorkerId worker, bool release);
    void strike_join(std::size_t fault);
    void inject(std::size_t fault, WorkerId worker);
    std::string_view slow_down(std::size_t fault, WorkerId worker);
    void check_means_of_slowing() const;
    void strike_when_complete(const Point& point);
    void strike_those_waiting(const Point& point);
    bool is_at(const Fault& fault, const Point& point) const;

    FaultPlan plan_;
    cluster::Supervisor& supervisor_;
    const ScenarioClock& clock_;
    Hooks hooks_;
    std::set<WorkerId> members_;
    std::vector<bool> done_;                   // per fault: fired, or its target is gone
    std::map<std::size_t, WorkerId> waiting_;  // fault → its target, which waits at its point
    std::map<std::uint64_t, Point> patience_;  // timer → the group that has waited for so long
    std::set<WorkerId> present_;               // registered and neither dead nor dismissed
    std::set<WorkerId> awaited_;               // newcomers and leavers not heard of yet
    long fired_ = 0;
};

}  // namespace assay::drive
