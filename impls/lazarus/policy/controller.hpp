// The Lazarus controller as a state machine without I/O (paper sections 3, 4.3, 5).
//
// It owns membership, plans, the step protocol and the reconfiguration protocol. Drivers (live
// processes, virtual time) feed it events and carry out its actions; given the seed and the events it
// is deterministic. Node = worker; ids are never reused.
//
//   Step:      Go(step) → every member computes, reduces, and reports StepDone → Commit(step): members
//              apply their optimizers. A death before the commit discards the step (Reconfigure with
//              the same resume step); a death after it rolls forward.
//   Reconfig.: Reconfigure(epoch, …) → members build the new group, transfer, report Ready → Go.
//              Members keep what they held before until Go of that epoch; then they drop what the plan
//              does not give them. So a death during reconfiguration starts over from the old holdings.
//   Join:      lazy: a joiner waits until the running step has committed.
//   Leave:     (preemption notice) lazy too: after the commit the leaver still serves transfers, then
//              gets Dismiss at Go.
//   Rebalance: every `rebalance_every` committed steps.
//   Lost:      an expert without a live holder → Reconfigure with restore_step set: every member loads
//              its experts from the newest complete checkpoint; no checkpoint → step 0 (initial state
//              from the seed). Too few nodes (N·c < E) → Stop.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "impls/lazarus/policy/types.hpp"

namespace assay::lazarus {

using Worker = int;
using Epoch = std::int64_t;
using Step = std::int64_t;

struct ControllerConfig {
    int layers = 2;
    int experts = 4;
    int slots = 2;         ///< c, per node and layer
    int min_replicas = 2;  ///< f; relaxed where slots do not suffice
    PlacementPolicy placement = PlacementPolicy::mro;
    Step steps = 20;             ///< stop after this many committed steps
    Step rebalance_every = 200;  ///< 0: never
    Step checkpoint_every = 0;   ///< 0: never
    int initial_workers = 4;     ///< the first plan waits for this many joins
    double join_wait_s = 0;      ///< batch joins that arrive within this time (paper: 120 s)
};

// ---- events --------------------------------------------------------------------------------------
struct Joined {
    Worker worker;
};
struct Died {
    Worker worker;
};
struct LeaveRequested {  ///< the worker got a preemption notice
    Worker worker;
};
struct StepDone {
    Worker worker;
    Epoch epoch;
    Step step;
    std::vector<Loads> loads;  ///< per layer: global tokens per expert in this step; equal on all
};
struct Ready {  ///< group built, transfers done
    Worker worker;
    Epoch epoch;
};
struct CheckpointWritten {  ///< this worker's part of checkpoint `step` is durable
    Worker worker;
    Step step;
};
struct Timer {
    std::uint64_t id;
};
using Event = std::variant<Joined, Died, LeaveRequested, StepDone, Ready, CheckpointWritten, Timer>;

// ---- actions -------------------------------------------------------------------------------------
struct Transfer {
    int layer;
    int expert;
    Worker from, to;
    bool operator==(const Transfer&) const = default;
};
/// Sent to every member (leavers included) at the start of an epoch.
struct Reconfigure {
    Epoch epoch;
    std::vector<Worker> members;  ///< ranks of the new group, in rank order; leavers take part until Go
    std::vector<Worker> training; ///< those that train afterwards: members without leavers, in rank order
    /// holders[layer][i]: experts of training[i], ascending, repeated per replica
    std::vector<Placement> holders;
    std::vector<Transfer> transfers;      ///< sorted by (from, to, layer, expert)
    std::vector<Worker> need_dense;       ///< joiners: receive the non-expert state …
    Worker dense_source = -1;             ///< … from this member
    std::optional<Step> restore_step;     ///< load everything from this checkpoint (0: initial state)
    Step resume_step;                     ///< the step that Go will name
    std::string why;                      ///< "start", "death of 1", "join of 4", "rebalance", "lost expert …"
};
struct Go {  ///< to the training members: drop what the plan does not give you, then compute `step`
    Epoch epoch;
    Step step;
};
struct Dismiss {  ///< an orderly leaver may exit
    Worker worker;
};
struct Commit {  ///< to the training members: apply the optimizer for `step`
    Epoch epoch;
    Step step;
};
struct WriteCheckpoint {  ///< after commit of step-1: state before `step`; each owner writes its experts
    Step step;
    /// owner[layer][expert]: the one holder that writes it; dense state: training[0]
    std::vector<std::vector<Worker>> owners;
    Worker dense_owner;
};
struct Abort {  ///< urgent, to surviving members: the group of this epoch is broken; stop computing
    Epoch epoch;
    Worker dead;
};
struct StartTimer {
    std::uint64_t id;
    double after_s;
};
struct Stop {  ///< finished (ok) or cannot go on
    bool ok;
    std::string why;
};
using Action = std::variant<Reconfigure, Go, Dismiss, Commit, WriteCheckpoint, Abort, StartTimer, Stop>;
using Actions = std::vector<Action>;

/// What trained a committed step: enough to replay it with nobody killed.
struct CommittedStep {
    Step step;
    Epoch epoch;
    std::vector<Worker> training;
    std::vector<Placement> holders;
};

class Controller {
  public:
    explicit Controller(ControllerConfig config);

    void on(const Event& event, double now_s, Actions& out);

    /// The lineage: one entry per committed step, in order. Steps undone by a checkpoint fallback are
    /// not in it.
    const std::vector<CommittedStep>& lineage() const { return lineage_; }
    Step committed() const;  ///< number of committed steps in the lineage
    bool stopped() const;
    struct Counts {
        long commits = 0, discarded = 0, reconfigurations = 0, rebalances = 0, joins = 0, deaths = 0,
             leaves = 0, transfers = 0, fallbacks = 0, rolled_back = 0;
    };
    const Counts& counts() const { return counts_; }

  private:
    // … implementation state
    std::vector<CommittedStep> lineage_;
    Counts counts_;
};

}  // namespace assay::lazarus
