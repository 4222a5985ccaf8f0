// The rules of any training (impls/elastic/watch.hpp) and, beside them, those of Lazarus and its
// rivals: from where states come and when all start again, who may wait and for how long, how often
// a step is tried again, groups, holders of experts, the routing history.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "impls/elastic/watch.hpp"
#include "impls/lazarus/policy/controller/controller.hpp"

namespace assay::lazarus {

class ProtocolWatch : public elastic::Watch {
  public:
    /// `job`: the settings that the controller is to keep to.
    explicit ProtocolWatch(const ControllerConfig& job);

    void before(const Event&);
    void after(const Action&, const Controller&);
    /// Nothing happens any more; the controller has stopped, or it is stuck for ever.
    void finish(const Controller&);
    /// The same where whoever drives it broke off before it stopped: time was up.
    void finish_early(const Controller&);

    const Reconfigure& plan() const { return plan_; }
    /// Those alive and willing cannot hold the model, whatever the plan.
    bool too_few_workers() const { return most_training(usable_workers()) == 0; }

  private:
    using ExpertId = std::pair<int, int>;  ///< layer, expert
    using Held = std::map<ExpertId, std::set<Worker>>;

    // what it is told, where it is of what is under way (protocol_watch.cpp)
    void heard(const Died&);
    void heard(const StepDone&);
    void heard(const CheckpointWritten&);
    void heard(const StepFailed&);
    void heard(const GroupBroken&);
    void heard(const RestoreFailed&);
    void heard(const Timer&);
    template <class Other>
    void heard(const Other&) {}
    bool is_usable(Worker) const;
    long usable_workers() const;
    long most_training(long workers) const;
    std::vector<ExpertId> lost() const;

    // before the rules of any training: steps, checkpoints, the end (protocol_watch_steps.cpp)
    void check(const Go&, const Controller&);
    void check(const Commit&, const Controller&);
    void check(const WriteCheckpoint&, const Controller&);
    void check(const Abort&, const Controller&);
    void check(const Evict&, const Controller&);
    void check(const StartTimer&, const Controller&);
    void check(const Stop&, const Controller&);
    template <class Other>
    void check(const Other&, const Controller&) {}
    void check_that_none_waits();

    // reconfigurations (protocol_watch_reconfigurations.cpp)
    void check(const Reconfigure&, const Controller&);
    void check_source(const Reconfigure&, const Controller&);
    void check_fallback(const Reconfigure&);
    void check_groups(const Reconfigure&);
    void check_holders(const Reconfigure&);
    void check_dense_sources(const Reconfigure&);
    void go_back(const Reconfigure&, const Controller&);
    bool one_that_trained_died() const;
    bool may_fall_back() const;

    bool groups() const { return job_.layout == Layout::groups; }
    bool restarts() const { return job_.recovery == Recovery::restart; }
    bool surplus_waits() const { return job_.surplus_waits.value_or(restarts()); }
    bool rebalances() const { return job_.rebalance_every > 0 && !groups(); }
    /// The newest checkpoint that is whole; 0: the beginning.
    Step newest() const { return complete_.empty() ? 0 : *complete_.rbegin(); }
    std::vector<Loads> no_loads() const;

    ControllerConfig job_;
    Held held_;  ///< by the last Go; the dead are taken out
    bool restoring_ = true;
    Reconfigure plan_{};
    long fallbacks_ = 0, deaths_ = 0, steps_of_window_ = 0;
    std::vector<Loads> loads_;   ///< that members reported of the next step
    std::vector<Loads> window_;  ///< of the committed steps that the next rebalance looks at
    std::set<Worker> dropped_;   ///< trained once, left over since
    Epoch torn_ = 0;             ///< the newest epoch whose checkpoint could not be read
    int step_failures_ = 0, corruptions_ = 0;  ///< in a row, of the next step
    std::optional<GroupBroken> broken_;
    std::optional<std::uint64_t> save_timer_;
    std::set<Worker> passed_over_;  ///< there when a planned restart was given up
    bool gave_up_saving_ = false;
    long planned_restarts_ = 0, bad_checkpoints_ = 0;
};

}  // namespace assay::lazarus
