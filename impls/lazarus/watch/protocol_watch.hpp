// Watches a controller from outside: every event it gets and every action it takes, checked against
// the rules of the protocol with bookkeeping of its own. It knows of no driver: whoever drives a
// controller, across processes or in virtual time, can show it what happens.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "impls/lazarus/policy/controller/controller.hpp"

namespace assay::lazarus {

class ProtocolWatch {
  public:
    /// `job`: the settings that the controller is to keep to.
    explicit ProtocolWatch(const ControllerConfig& job);

    /// The controller is about to be told of it.
    void before(const Event&);
    /// It has finished with that event, and this is one of the actions that it asked for, in order.
    void after(const Action&, const Controller&);
    /// Nothing happens any more; the controller has stopped, or it is stuck for ever.
    void finish(const Controller&);
    /// The same where whoever drives it broke off before it stopped: time was up.
    void finish_early(const Controller&);

    /// The rules that were broken, in the order in which that was noticed.
    const std::vector<std::string>& failures() const { return failures_; }

    const Reconfigure& plan() const { return plan_; }
    const std::optional<Stop>& stop() const { return stop_; }
    /// Those alive and willing cannot hold the model, whatever the plan.
    bool too_few_workers() const { return most_training(usable_workers()) == 0; }

  private:
    using ExpertId = std::pair<int, int>;  ///< layer, expert
    using Held = std::map<ExpertId, std::set<Worker>>;

    // what it is told (protocol_watch.cpp)
    void see(const Joined& joined) { joined_.insert(joined.worker); }
    void see(const Died&);
    void see(const LeaveRequested&);
    void see(const StepDone&);
    void see(const Ready&);
    void see(const CheckpointWritten&);
    void see(const StepFailed&);
    void see(const GroupBroken&);
    void see(const RestoreFailed&);
    void see(const Timer&);
    void fail(std::string what) { failures_.push_back(std::move(what)); }
    bool usable(Worker) const;
    long usable_workers() const;
    long most_training(long workers) const;
    std::vector<ExpertId> lost() const;

    // steps, checkpoints, the end (protocol_watch_steps.cpp)
    void check(const Go&, const Controller&);
    void check(const Dismiss&, const Controller&);
    void check(const Commit&, const Controller&);
    void check(const WriteCheckpoint&, const Controller&);
    void check(const Abort&, const Controller&);
    void check(const Evict&, const Controller&);
    void check(const StartTimer&, const Controller&);
    void check(const Stop&, const Controller&);
    void check_nobody_waits();
    void not_while_evicting(const char* what);

    // reconfigurations (protocol_watch_reconfigurations.cpp)
    void check(const Reconfigure&, const Controller&);
    void check_source(const Reconfigure&, const Controller&);
    void check_fallback(const Reconfigure&);
    void check_groups(const Reconfigure&);
    void check_plan(const Reconfigure&);
    void check_dense_sources(const Reconfigure&);
    void go_back(const Reconfigure&, const Controller&);
    bool one_that_trained_died() const;
    bool may_fall_back() const;

    bool groups() const { return job_.layout == Layout::groups; }
    bool restarts() const { return job_.recovery == Recovery::restart; }
    bool surplus_waits() const { return job_.surplus_waits.value_or(restarts()); }
    bool rebalances() const { return job_.rebalance_every > 0 && !groups(); }
    Step newest() const { return complete_.empty() ? 0 : *complete_.rbegin(); }
    std::vector<Loads> no_loads() const;

    ControllerConfig job_;
    std::vector<std::string> failures_;
    std::set<Worker> joined_, dead_, leaving_, dismissed_, ready_, reported_;
    Held held_;  ///< by the last Go; the dead are taken out
    bool restoring_ = true;
    Reconfigure plan_{};
    bool going_ = false;  ///< the plan's Go was given
    Step next_ = 0;
    long fallbacks_ = 0, deaths_ = 0, steps_of_window_ = 0;
    std::vector<Loads> loads_;   ///< that members reported of the next step
    std::vector<Loads> window_;  ///< of the committed steps that the next rebalance looks at
    std::map<Step, std::set<Worker>> unwritten_;
    std::set<Step> complete_;   ///< checkpoints; the newest two
    std::set<Worker> dropped_;  ///< trained once, left over since
    Epoch troubled_ = 0;        ///< the newest epoch in which living workers failed
    std::set<std::pair<Epoch, Step>> poisoned_;
    Epoch torn_ = 0;  ///< the newest epoch whose checkpoint could not be read
    int step_failures_ = 0, corruptions_ = 0;  ///< in a row, of the next step
    std::optional<GroupBroken> broken_;
    std::optional<Worker> evicting_;
    std::optional<std::uint64_t> save_timer_;
    std::set<Worker> passed_over_;  ///< there when a planned restart was given up
    bool gave_up_saving_ = false;
    long planned_restarts_ = 0, bad_checkpoints_ = 0;
    std::optional<Stop> stop_;
};

}  // namespace assay::lazarus
