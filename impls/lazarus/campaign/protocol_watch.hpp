// Watches the controller from outside: every event it gets and every action it takes, checked
// against the rules of the protocol with bookkeeping of its own.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "impls/lazarus/campaign/model_state.hpp"
#include "impls/lazarus/policy/controller/controller.hpp"

namespace assay::lazarus::campaign {

class ProtocolWatch {
  public:
    ProtocolWatch(ControllerConfig job, Hash seed, std::function<void(std::string)> fail);

    void before(const Event&);
    void after(const Action&, const Controller&);
    /// Last look, when nothing happens any more.
    void finish(const Controller&);

    const Reconfigure& plan() const { return plan_; }
    /// The model after the committed step, had nobody been killed.
    const ModelState& expected_after(const Commit& commit) const {
        return expected_.at({commit.epoch, commit.step});
    }
    /// The model before `step` of the present lineage.
    const ModelState& expected_before(Step step) const {
        return states_.at(static_cast<std::size_t>(step));
    }
    const std::optional<Stop>& stop() const { return stop_; }
    /// Those alive and willing cannot hold the model, whatever the plan.
    bool too_few_workers() const { return most_training(usable_workers()) == 0; }

  private:
    using Held = std::map<ExpertId, std::set<Worker>>;

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
    void check(const Reconfigure&, const Controller&);
    void check(const Go&, const Controller&);
    void check(const Dismiss&, const Controller&);
    void check(const Commit&, const Controller&);
    void check(const WriteCheckpoint&, const Controller&);
    void check(const Abort&, const Controller&);
    void check(const Evict&, const Controller&);
    void check(const StartTimer&, const Controller&);
    void check(const Stop&, const Controller&);
    void check_source(const Reconfigure&, const Controller&);
    void check_fallback(const Reconfigure&);
    void check_groups(const Reconfigure&);
    void go_back(const Reconfigure&, const Controller&);
    bool one_that_trained_died() const;
    bool may_fall_back() const;
    void not_while_evicting(const char* what);
    long usable_workers() const;
    long most_training(long workers) const;
    bool groups() const { return job_.layout == Layout::groups; }
    bool restarts() const { return job_.recovery == Recovery::restart; }
    bool rebalances() const { return job_.rebalance_every > 0 && !groups(); }
    Step newest() const { return complete_.empty() ? 0 : *complete_.rbegin(); }
    void check_plan(const Reconfigure&);
    void check_dense_sources(const Reconfigure&);
    void check_nobody_waits();
    bool usable(Worker) const;
    std::vector<ExpertId> lost() const;

    ControllerConfig job_;
    Hash seed_;
    std::function<void(std::string)> fail_;
    std::set<Worker> joined_, dead_, leaving_, dismissed_, ready_, reported_;
    Held held_;  ///< by the last Go; the dead are taken out
    bool restoring_ = true;
    Reconfigure plan_{};
    bool going_ = false;  ///< the plan's Go was given
    Step next_ = 0;
    long fallbacks_ = 0, deaths_ = 0, steps_of_window_ = 0;
    std::vector<Loads> window_;
    std::map<Step, std::set<Worker>> unwritten_;
    std::set<Step> complete_;   ///< checkpoints; the newest two
    std::set<Worker> dropped_;  ///< trained once, left over since
    Epoch troubled_ = 0;        ///< the newest epoch in which living workers failed
    std::set<std::pair<Epoch, Step>> poisoned_;
    Epoch torn_ = 0;                      ///< the newest epoch whose checkpoint could not be read
    int failures_ = 0, corruptions_ = 0;  ///< in a row, of the next step
    std::optional<GroupBroken> broken_;
    std::optional<Worker> evicting_;
    std::optional<std::uint64_t> save_timer_;
    std::set<Worker> passed_over_;  ///< there when a planned restart was given up
    bool gave_up_saving_ = false;
    long planned_restarts_ = 0, bad_checkpoints_ = 0;
    std::vector<ModelState> states_;
    std::map<std::pair<Epoch, Step>, ModelState> expected_;
    std::optional<Stop> stop_;
};

}  // namespace assay::lazarus::campaign
