// The Lazarus controller as a state machine without I/O (paper sections 3, 4.3, 5).
//
// It owns membership, plans, the step protocol and the reconfiguration protocol. Drivers (live
// processes, virtual time) feed it events and carry out its actions; given the events it is
// deterministic. Node = worker; ids are never reused.
//
//   Step:      Go(step) → every member computes, reduces, and reports StepDone → Commit(step):
//              members apply their optimizers. A death before the commit discards the step
//              (Reconfigure with the same resume step), unless every survivor has reported and
//              together they hold every expert: then the step commits first. A death after the
//              commit rolls forward.
//   Reconfig.: Reconfigure(epoch, …) → members build the new group, transfer, report Ready → Go.
//              Members keep what they held before until Go of that epoch; then they drop what the
//              plan does not give them. So a death during reconfiguration starts over from the old
//              holdings.
//   Join:      lazy: a joiner waits until the running step has committed. It is taken at once where
//              there is no state to wait for (fallback) or nobody else to train.
//   Leave:     (preemption notice) lazy too: after the commit the leaver still serves transfers,
//              then gets Dismiss at Go.
//   Rebalance: when the strategy says so (Lazarus: every `rebalance_every` committed steps).
//   Lost:      an expert without a live holder → Reconfigure with restore_step set: every member
//              loads its experts from the newest complete checkpoint; no checkpoint → step 0
//              (initial state from the seed).
//   Too few:   (Strategy::usable() is 0: N·c < E, or no whole group) → Stop. With wait_for_nodes
//              the controller says nothing until enough workers have joined, which are then taken
//              at once (no join_wait). It waits for ever where nobody joins: a driver that cannot
//              get more workers must end it.
//   Step failed on a live worker: Abort(epoch, -1), then Reconfigure of a new epoch with the same
//              members and resume step; other reports about the failed try no longer count. After
//              most_retries retries in a row of one step: Stop.
//   Group broken though nobody died: a corrupt message is tried again in the same way, a step's as
//              a transfer's; once most_retries of a step are used up the suspect is evicted. One
//              that cannot be reached is evicted at once: Abort(epoch, -1), Evict, and nothing
//              until its Died, which is then like any death.
//   Bad checkpoint: (RestoreFailed) it is never chosen again; Abort(epoch, -1) and Reconfigure with
//              the complete one before, or step 0.
//
// Systems differ by their strategy (strategy.hpp), which says who trains and holds what, and by
// what comings and goings mean to it. Nodes beyond those that it can use are spares, which no
// message reaches but Stop, and Dismiss should they ask to leave:
//   restarts (DeepSpeed-MoE): the death of a node that trains discards the
//              step, and everyone, spares included, restarts from the newest complete checkpoint. A
//              spare's death changes nothing. Joiners (after join_wait) are spares until there are
//              enough for more usable nodes; then, as for a leave, the restart is planned: after
//              the commit WriteCheckpoint, and once it is complete Reconfigure with restore_step =
//              the step reached. A checkpoint that is not complete within checkpoint_wait_s:
//              without leavers training goes on and the restart is tried again after the next
//              commit with a join; with leavers everyone restarts from the newest complete one.
//   neither, where nodes train in groups (DeepSpeed-MoE with Lazarus' reconfiguration): as Lazarus,
//              on the nodes in use. Those left over when groups are formed (at the start, after a
//              death or leave, after a fallback) are dropped: their state counts no longer, and
//              only a fallback takes them back (with surplus_stays() they wait, as joiners do).
//              Joiners without a whole group wait for more
//              joiners, and are not dropped. No whole group left of the nodes in use and the
//              joiners → fallback with everyone.
//
// What drivers must keep to:
//   * Each worker's messages are delivered in the order they were sent, both ways; between workers
//     any order is correct. Died may overtake messages of the dead worker: they are then ignored,
//     except CheckpointWritten, whose part is durable whatever became of its writer.
//   * Abort alone may overtake what was sent before it. It ends computing, group building and
//     transfers of its epoch and nothing else: a Commit or Go of that epoch that is still queued
//     must be carried out (a Go then only adopts the plan), so what was staged or summed is kept
//     until the next Reconfigure.
//   * Before a worker says Ready it has said everything about earlier epochs, CheckpointWritten
//     too.
//   * A worker whose loss or sums are not finite says StepFailed in place of StepDone, and waits.
//   * A worker that cannot read the checkpoint of its Reconfigure says RestoreFailed in place of
//     Ready, and waits. Step 0 is made from the seed and cannot fail.
//   * Collectives that fail are reported (GroupBroken) only once no Died explains them; Died of the
//     suspect makes the report stale.
//   * Checkpoints: checkpoint_ledger.hpp says which must be kept.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "impls/lazarus/policy/controller/checkpoint_ledger.hpp"
#include "impls/lazarus/policy/controller/membership.hpp"
#include "impls/lazarus/policy/controller/protocol.hpp"
#include "impls/lazarus/policy/controller/reconfiguration.hpp"
#include "impls/lazarus/policy/controller/routing_history.hpp"
#include "impls/lazarus/policy/controller/strategy.hpp"

namespace assay::lazarus {

class Controller {
  public:
    using Event = lazarus::Event;  ///< as every policy names them (suite/drive/policy.hpp)
    using Action = lazarus::Action;

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
    /// Nobody trains: more workers must join first (ControllerConfig::wait_for_nodes).
    bool short_of_workers() const { return phase_ == Phase::short_of_workers; }
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
        long fallbacks = 0;         ///< restarts from a checkpoint or from the initial state; …
        long no_replica_left = 0;   ///< … of these by reason: see RestartReason …
        long too_few_survivors = 0;
        long every_loss = 0;        ///< … the three add up to `fallbacks`
        long rolled_back = 0;       ///< committed steps undone by fallbacks and bad checkpoints
        long planned_restarts = 0;  ///< for joins and leaves (Strategy::restarts); no step lost
        long retries = 0;           ///< epochs made because live workers failed in one before
        long evictions = 0;         ///< Evict actions
        long bad_checkpoints = 0;   ///< complete ones that could not be read
        long waits = 0;             ///< times it had to wait for more nodes
    };
    const Counts& counts() const { return counts_; }

    /// Of the restart under way, or of the last one; `planned` before the first.
    RestartReason restart_reason() const { return restart_reason_; }

    /// Alive, reported, their join wait over, and not in the group: more than are usable.
    long spares() const {
        return static_cast<long>(membership_.newcomers().size() + membership_.dropped().size());
    }

  private:
    enum class Phase {
        waiting,           // for the initial workers
        reconfiguring,     // Reconfigure is out, Ready is awaited
        training,          // Go is out
        saving,            // for the checkpoint of a planned restart
        evicting,          // for the Died of the one evicted
        short_of_workers,  // wait_for_nodes
        stopped
    };

    // membership (controller.cpp)
    void handle(const Joined&, Actions&);
    void handle(const Died&, Actions&);
    void handle(const LeaveRequested&, Actions&);
    void handle(const Timer&, Actions&);
    void start_if_complete(Actions&);
    void stop(bool ok, std::string why, Actions&);

    // steps (controller_steps.cpp)
    void handle(const StepDone&, Actions&);
    void handle(const CheckpointWritten&, Actions&);
    void lose_member_while_training(Worker dead, Actions&);
    bool all_reported() const;
    void commit(Actions&);
    void checkpoint_if_due(Actions&);
    void order_checkpoint(Actions&);
    void continue_after_commit(Actions&);
    void go_on(Actions&);
    bool restart_is_planned() const;
    void save_before_restart(Actions&);
    void restart_as_planned(Actions&);
    void give_up_saving(Actions&);

    // reconfiguration protocol (controller_reconfigure.cpp)
    void handle(const Ready&, Actions&);
    void reconfigure(Actions&);
    void leave_out_surplus(bool from_storage, Actions&);
    void announce(Actions&);
    void finish_reconfiguration(Actions&);
    void end_join_wait();
    void admit_newcomers();
    void begin_departures();
    void fall_back(RestartReason);
    void roll_back_to(Step);
    std::size_t usable(std::size_t workers) const;
    bool enough_alive() const;
    void wait_or_stop(Actions&);
    std::string why_impossible() const;

    // failures of live workers (controller_failures.cpp)
    void handle(const StepFailed&, Actions&);
    void handle(const GroupBroken&, Actions&);
    void handle(const RestoreFailed&, Actions&);
    void retry(std::string cause, Actions&);
    void evict(Worker, std::string why, Actions&);
    void end_epoch(Actions&);

    ControllerConfig config_;
    std::shared_ptr<const Strategy> strategy_;
    Phase phase_ = Phase::waiting;
    Membership membership_;
    Holdings holdings_;  ///< of the live workers, as of the last Go
    RoutingHistory history_;
    CheckpointLedger checkpoints_;

    int expected_;  ///< joins the first plan waits for
    bool joiners_due_ = false;
    std::optional<std::uint64_t> join_timer_, save_timer_;
    std::uint64_t timers_ = 0;

    Reconfigure plan_;                 ///< of the current epoch, as announced
    std::vector<std::string> causes_;  ///< of the reconfiguration under way
    std::optional<Step> restore_ =
        0;                      ///< nobody holds state: load this checkpoint; 0: initial state
    bool restart_due_ = false;  ///< Strategy::restarts: one that trained has died
    RestartReason restart_reason_ = RestartReason::planned;
    std::set<Worker> ready_;
    std::set<Worker> reported_;                         ///< who has done the running step
    std::vector<Loads> loads_;                          ///< what they said of it: all the same
    int failures_in_row_ = 0, corruptions_in_row_ = 0;  ///< of the step to commit next
    Worker evicted_ = -1;                               ///< whose Died is awaited

    std::vector<CommittedStep> lineage_;
    Counts counts_;
};

}  // namespace assay::lazarus
