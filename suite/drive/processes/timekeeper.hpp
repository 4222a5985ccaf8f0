// How scenario time passes in a run across processes. Real: as fast as the machine's, or so many
// times as fast. Paced: as on a modelled cluster, at a steady speed, or by steps that all workers
// make together (paced_time.hpp). Whoever drives workers asks the timekeeper when things begin and
// end, and need not know which it is.
//
// Time begins with the work: what starting processes takes belongs to no scenario.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "suite/drive/policy.hpp"
#include "suite/drive/processes/scenario_clock.hpp"

namespace assay::drive {

/// How far real work fell behind the modelled cluster; all zero where nothing is modelled.
struct PacingSummary {
    double step_s = 0;  ///< scenario seconds of all paced steps …
    double late_s = 0;  ///< … and by how much they ended late
    long steps = 0;
    bool link_stays_bad = false;
    std::vector<double> speeds;
    double overrun() const { return step_s > 0 ? late_s / step_s : 0; }
};

class Timekeeper {
  public:
    virtual ~Timekeeper() = default;

    /// The first group is ready: scenario time is 0 and runs.
    virtual void begin() = 0;

    // ---- what only takes time on the machine ----------------------------------------------------
    /// Processes notice, regroup, move state: how long that takes says nothing about a modelled
    /// cluster, whose time stands still until go_on().
    virtual void hold() = 0;
    virtual void go_on() = 0;
    virtual bool held() const = 0;
    /// Nobody has anything to do: time may pass as quickly as it can.
    virtual void idle() {}

    // ---- pauses ---------------------------------------------------------------------------------
    // `cost_s`: what the modelled cluster takes. Time goes on.
    struct Pause {
        double from_s = 0, to_s = 0;
    };
    /// Everyone writes down what it holds.
    virtual Pause checkpoint(double cost_s) = 0;
    /// Everyone in the group that was planned at `since_s` is ready. `detect_s`: from the loss, if
    /// there was one, to anything being done about it. `planned`: for the checkpoint written last.
    virtual Pause regroup(double since_s, double detect_s, double cost_s, bool planned) = 0;

    // ---- steps that all members make together ---------------------------------------------------
    /// The next one begins here.
    virtual double next_start() = 0;
    /// It is sent to the workers. Fields for the message.
    virtual nlohmann::json begin_step(double start_s, const std::vector<WorkerId>& training) = 0;
    /// A worker is done (its message). When the step ends, where that is still ahead.
    virtual std::optional<double> step_done(const nlohmann::json& message) = 0;
    /// All are done: the time at which the step ended.
    virtual double end_step() = 0;

    // ---- faults ---------------------------------------------------------------------------------
    /// Until then lateness is what a fault of `worker` does to the modelled cluster (a short
    /// freeze, a bad link that heals): it is no overrun but time that passes there.
    virtual void disturbed_until(WorkerId, double) {}
    /// A link is bad from now on. How late that makes real work says nothing about the modelled
    /// cluster, as the speed follows the machine: it is overrun.
    virtual void link_stays_bad() {}
    virtual void gone(WorkerId) {}
    /// From now on a worker's modelled operations take `factor` times as long.
    virtual void slow(WorkerId, double) {}

    virtual PacingSummary summary() const { return {}; }
};

/// The machine's own time, `speed` scenario seconds per second.
class RealTime : public Timekeeper {
  public:
    RealTime(ScenarioClock& clock, ScenarioTimers& timers, double speed = 1);

    void begin() override;
    void hold() override {}
    void go_on() override {}
    bool held() const override { return false; }
    Pause checkpoint(double) override { return {clock_.now(), clock_.now()}; }
    Pause regroup(double since_s, double, double, bool) override { return {since_s, clock_.now()}; }
    double next_start() override { return clock_.now(); }
    nlohmann::json begin_step(double, const std::vector<WorkerId>&) override {
        return nlohmann::json::object();
    }
    std::optional<double> step_done(const nlohmann::json&) override { return std::nullopt; }
    double end_step() override { return clock_.now(); }

  protected:
    ScenarioClock& clock_;
    ScenarioTimers& timers_;
};

}  // namespace assay::drive
