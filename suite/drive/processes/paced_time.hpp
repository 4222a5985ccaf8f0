// Holds a run across processes to the time of a modelled cluster. PacedTime is the driver's side:
// when each step begins and ends there, what pauses cost, how far real work fell behind. PacedStep
// is a worker's: the operations within its steps.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "suite/cluster/pacer.hpp"
#include "suite/drive/processes/timekeeper.hpp"

namespace assay::drive {

/// A step ends when the modelled cluster would end it. The next one begins at that moment, however
/// late the real work was; so lateness does not add up unless the machine is too slow for the
/// speed. The speed follows the machine: a step gets a quarter more than its real work took lately.
class PacedTime final : public Timekeeper {
  public:
    /// `typical_step_s`: modelled seconds of a step, roughly: the speed before any was measured.
    PacedTime(ScenarioClock& clock, ScenarioTimers& timers, double typical_step_s);

    void begin() override;
    void hold() override { clock_.freeze(); }
    void go_on() override;
    bool held() const override { return clock_.frozen(); }
    void idle() override;
    Pause checkpoint(double cost_s) override;
    Pause regroup(double since_s, double detect_s, double cost_s, bool planned) override;
    double next_start() override;
    nlohmann::json begin_step(double start_s, const std::vector<WorkerId>& training) override;
    std::optional<double> step_done(const nlohmann::json& message) override;
    double end_step() override;
    void disturbed_until(WorkerId worker, double t_s) override;
    void link_stays_bad() override { summary_.link_stays_bad = true; }
    void gone(WorkerId worker) override { disturbed_until_.erase(worker); }
    void slow(WorkerId worker, double factor) override { slowdowns_[worker] = factor; }
    PacingSummary summary() const override { return summary_; }

  private:
    void adapt_speed();
    void wait_faster(double until_s);

    ScenarioClock& clock_;
    ScenarioTimers& timers_;
    double typical_step_s_;
    double start_s_ = 0, modelled_s_ = 0;  ///< of the running step
    double end_s_ = 0;                     ///< of the last one
    double free_s_ = 0;                    ///< when the checkpoint after it is written
    double least_work_s_ = -1;
    std::deque<double> work_s_;  ///< real seconds of the newest steps
    std::map<WorkerId, double> slowdowns_, disturbed_until_;
    PacingSummary summary_;
};

/// One worker's step, held to offsets in scenario seconds from its start.
class PacedStep {
  public:
    /// `go`: the message with the fields of Timekeeper::begin_step(); without them nothing is held.
    void begin(const nlohmann::json& go);
    bool paced() const { return pacer_.has_value(); }
    /// [rank among those that train] ≥ 1.
    const std::vector<double>& slowdowns() const { return slowdowns_; }
    void hold_until(double offset_s);
    /// Adds what the driver wants to know to the message that the step is done: "modelled_s"
    /// (scenario seconds of the step) and "work_s" (real seconds not spent waiting for a modelled
    /// device, nor held back by a faulty link: `link_held_s`).
    void report(nlohmann::json& done, double modelled_s, double link_held_s) const;

  private:
    std::optional<cluster::Pacer> pacer_;
    std::vector<double> slowdowns_;
    double begun_s_ = 0, held_s_ = 0;
};

}  // namespace assay::drive
