// Holds a training to the modelled cluster's time. PacedTime is the session's side: when each step
// begins and ends there, what recoveries and checkpoints cost, how far real work fell behind.
// StepPacing is a worker's: the operations within its steps.
#pragma once

#include <deque>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "impls/lazarus/cost/recovery_cost.hpp"
#include "impls/lazarus/cost/step_timeline.hpp"
#include "impls/lazarus/course.hpp"
#include "impls/lazarus/live/scenario_clock.hpp"
#include "impls/lazarus/policy/controller/protocol.hpp"
#include "impls/lazarus/training/step_hooks.hpp"
#include "suite/cluster/pacer.hpp"

namespace assay::lazarus {

struct PacingOptions {
    Modelling modelling;
    double duration_s = 0;   ///< scenario seconds after which the training ends; 0: when its steps
                             ///< are done
    double relaunch_s = -1;  ///< replaces the cluster profile's; -1: does not
};

/// A step ends when the modelled cluster would end it. The next one begins at that moment, however
/// late the real work was; so lateness does not add up unless the machine is too slow for the
/// speed. The speed follows the machine: a step gets a quarter more than its real work took lately.
class PacedTime {
  public:
    PacedTime(const PacingOptions& options, ScenarioClock& clock, ScenarioTimers& timers);

    // ---- recoveries: the clock stands still from their cause to the last Ready ------------------
    void planned(const Reconfigure& plan, bool after_death);
    /// Everyone is ready: the clock runs again. Returns when the first step may begin: the modelled
    /// cost later.
    double regrouped();
    void idle();  ///< nobody trains: time passes quickly
    const ReconfigurationCost& cost() const { return cost_; }  ///< of the one under way
    void checkpoint() { stall_s_ += checkpoint_cost(costs_, options_.modelling); }

    // ---- steps -------------------------------------------------------------------------------
    /// The step is sent to the workers; it begins at `start_s`. Fields for the Go message.
    nlohmann::json begin_step(double start_s, const std::vector<Worker>& training);
    void step_done(const nlohmann::json& message);  ///< a worker's report (StepPacing::report)
    double step_end() const { return start_s_ + modelled_s_; }  ///< known once a worker is done
    /// The step is committed: the scenario time at which it ended.
    double commit();
    /// When the step after it begins: a checkpoint stalls it.
    double next_start();

    void set_slowdown(Worker worker, double factor) { slowdowns_[worker] = factor; }
    /// Until then lateness is what a fault of `worker` does to the modelled cluster (a short
    /// freeze, a bad link that heals): it is no overrun but time that passes there.
    void disturbed_until(Worker worker, double t_s);
    void gone(Worker worker) { disturbed_until_.erase(worker); }
    /// A link is bad from now on. How late that makes real work says nothing about the modelled
    /// cluster, as the speed follows the machine: it is overrun.
    void link_stays_bad() { summary_.link_stays_bad = true; }

    struct Summary {
        double step_s = 0;  ///< scenario seconds of all paced steps …
        double late_s = 0;  ///< … and by how much they ended late
        long steps = 0;
        bool link_stays_bad = false;
        std::vector<double> speeds;
        double overrun() const { return step_s > 0 ? late_s / step_s : 0; }
    };
    const Summary& summary() const { return summary_; }
    const drive::Pauses<Pause>& pauses() const { return pauses_; }
    const PacingOptions& options() const { return options_; }

  private:
    void adapt_speed();
    void wait_faster(double until_s);

    PacingOptions options_;
    CostModel costs_;
    ScenarioClock& clock_;
    ScenarioTimers& timers_;
    ReconfigurationCost cost_;
    bool restart_ = false;
    bool planned_ = false;  ///< for a checkpoint that was written after the last step
    double stall_s_ = 0, start_s_ = 0, end_s_ = 0, modelled_s_ = 0;
    double least_work_s_ = -1;
    std::deque<double> work_s_;  // real seconds of the newest steps
    std::map<Worker, double> slowdowns_, disturbed_until_;
    drive::Pauses<Pause> pauses_;
    Summary summary_;
};

/// Holds the operations of one worker's steps to the durations of the modelled cluster. The last
/// one, gradient sums and optimizer, ends with the step's commit, which the session holds.
class StepPacing {
  public:
    explicit StepPacing(const Modelling& modelling)
        : modelling_(modelling), costs_(cluster_profile(modelling.cluster)) {}

    /// `go`: the session's message, with "start_s" (monotonic clock), "speed" and "slowdowns".
    void begin(const nlohmann::json& go, const Reconfigure& plan, int rank);
    void counted(int layer, std::span<const Tokens> tokens) { timeline_->counted(layer, tokens); }
    void done(StepHooks::Phase phase, int layer);

    /// "modelled_s" (scenario seconds of the step), "work_s" (real seconds not spent waiting for a
    /// modelled device, nor held back by a faulty link: `link_held_s`).
    void report(nlohmann::json& step_done, double link_held_s) const;

  private:
    void hold_until(double offset_s);

    Modelling modelling_;
    CostModel costs_;
    int rank_ = 0;
    double begun_s_ = 0, held_s_ = 0;
    std::optional<StepTimeline> timeline_;
    std::optional<cluster::Pacer> pacer_;
};

}  // namespace assay::lazarus
