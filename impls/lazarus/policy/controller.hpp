// The Lazarus controller as a state machine without I/O (paper sections 3, 4.3, 5).
//
// It owns membership, plans, the step protocol and the reconfiguration protocol. Drivers (live
// processes, virtual time) feed it events and carry out its actions; given the events it is
// deterministic. Node = worker; ids are never reused.
//
//   Step:      Go(step) → every member computes, reduces, and reports StepDone → Commit(step):
//   members
//              apply their optimizers. A death before the commit discards the step (Reconfigure
//              with the same resume step), unless every survivor has reported and together they
//              hold every expert: then the step commits first. A death after the commit rolls
//              forward.
//   Reconfig.: Reconfigure(epoch, …) → members build the new group, transfer, report Ready → Go.
//              Members keep what they held before until Go of that epoch; then they drop what the
//              plan does not give them. So a death during reconfiguration starts over from the old
//              holdings.
//   Join:      lazy: a joiner waits until the running step has committed. It is taken at once where
//              there is no state to wait for (fallback) or nobody else to train.
//   Leave:     (preemption notice) lazy too: after the commit the leaver still serves transfers,
//   then
//              gets Dismiss at Go.
//   Rebalance: every `rebalance_every` committed steps.
//   Lost:      an expert without a live holder → Reconfigure with restore_step set: every member
//   loads
//              its experts from the newest complete checkpoint; no checkpoint → step 0 (initial
//              state from the seed). Too few nodes (N·c < E) → Stop.
//
// What drivers must keep to:
//   * Each worker's messages are delivered in the order they were sent, both ways; between workers
//   any
//     order is correct. Died may overtake messages of the dead worker: they are then ignored,
//     except CheckpointWritten, whose part is durable whatever became of its writer.
//   * Abort alone may overtake what was sent before it. It ends computing, group building and
//   transfers
//     of its epoch and nothing else: a Commit or Go of that epoch that is still queued must be
//     carried out (a Go then only adopts the plan), so what was staged or summed is kept until the
//     next Reconfigure.
//   * Before a worker says Ready it has said everything about earlier epochs, CheckpointWritten
//   too.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "impls/lazarus/policy/checkpoint_ledger.hpp"
#include "impls/lazarus/policy/holdings.hpp"
#include "impls/lazarus/policy/membership.hpp"
#include "impls/lazarus/policy/protocol.hpp"
#include "impls/lazarus/policy/routing_history.hpp"

namespace assay::lazarus {

class Controller {
  public:
    /// Throws std::invalid_argument naming the setting that makes no sense.
    explicit Controller(ControllerConfig config);

    /// Takes one event and appends what has to be done, in order. `now_s` is part of the contract
    /// every policy shares; nothing here depends on it: waiting is done with StartTimer.
    void on(const Event& event, double now_s, Actions& out);

    /// The lineage: one entry per committed step, in order. Steps undone by a checkpoint fallback
    /// are not in it.
    const std::vector<CommittedStep>& lineage() const { return lineage_; }
    /// Number of committed steps in the lineage; also the index of the next step.
    Step committed() const { return static_cast<Step>(lineage_.size()); }
    bool stopped() const { return phase_ == Phase::stopped; }
    /// Committed steps that the next rebalance will look at.
    const RoutingHistory& history() const { return history_; }

    struct Counts {
        long commits = 0;           ///< Commit actions, those later rolled back included
        long discarded = 0;         ///< steps abandoned before their commit
        long reconfigurations = 0;  ///< Reconfigure actions, those overtaken by a death included
        long rebalances = 0;        ///< plans made because rebalance_every steps had passed
        long joins = 0;             ///< workers that reported
        long deaths = 0;            ///< workers that died, wherever they stood
        long leaves = 0;            ///< workers dismissed at their own request
        long transfers = 0;         ///< expert states moved in completed reconfigurations
        long fallbacks = 0;         ///< restarts from a checkpoint or from the initial state
        long rolled_back = 0;       ///< committed steps undone by fallbacks
    };
    const Counts& counts() const { return counts_; }

  private:
    enum class Phase { waiting, reconfiguring, training, stopped };

    // events (controller.cpp)
    void handle(const Joined&, Actions&);
    void handle(const Died&, Actions&);
    void handle(const LeaveRequested&, Actions&);
    void handle(const StepDone&, Actions&);
    void handle(const Ready&, Actions&);
    void handle(const CheckpointWritten&, Actions&);
    void handle(const Timer&, Actions&);

    // step protocol (controller.cpp)
    void start_if_complete(Actions&);
    void lose_member_while_training(Worker dead, Actions&);
    bool all_reported() const;
    void commit(Actions&);
    void checkpoint_if_due(Actions&);
    void continue_after_commit(Actions&);
    void stop(bool ok, std::string why, Actions&);

    // reconfiguration protocol (controller_reconfigure.cpp)
    void reconfigure(Actions&);
    void finish_reconfiguration(Actions&);
    bool feasible() const;
    void admit_joiners();
    void fall_back(int layer, int expert);
    std::string why_impossible() const;

    ControllerConfig config_;
    Phase phase_ = Phase::waiting;
    Membership membership_;
    Holdings holdings_;  ///< of the live workers, as of the last Go
    RoutingHistory history_;
    CheckpointLedger checkpoints_;

    int expected_;  ///< joins the first plan waits for
    bool joiners_due_ = false;
    std::optional<std::uint64_t> join_timer_;
    std::uint64_t timers_ = 0;

    Reconfigure plan_;                 ///< of the current epoch, as announced
    std::vector<std::string> causes_;  ///< of the reconfiguration under way
    std::optional<Step> restore_ =
        0;  ///< nobody holds state: load this checkpoint; 0: initial state
    std::set<Worker> ready_;
    std::map<Worker, std::vector<Loads>> reported_;  ///< StepDone of the running step

    std::vector<CommittedStep> lineage_;
    Counts counts_;
};

}  // namespace assay::lazarus
