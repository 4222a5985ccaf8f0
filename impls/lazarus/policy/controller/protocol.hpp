// What the Lazarus controller and its drivers say to each other: configuration, events, actions.
// Node = worker; ids are never reused.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "impls/elastic/protocol.hpp"
#include "impls/lazarus/policy/types.hpp"
#include "suite/base/describe.hpp"
#include "suite/drive/policy.hpp"
#include "suite/drive/suspicion.hpp"

namespace assay::lazarus {

using Worker = drive::WorkerId;
using elastic::Epoch;
using elastic::Step;

/// Which strategy says who trains and holds what (strategy.hpp).
enum class Layout {
    flexible,        ///< any number of nodes, replicas by load, each layer mapped alone (Lazarus)
    groups,          ///< fixed expert parallelism (DeepSpeed-MoE): the nodes that train are a
                     ///< multiple of `group`; node i of a group holds the i-th share of the experts
    flexible_joint,  ///< as flexible, all layers mapped together (ours)
    eplb             ///< as flexible, replicas and placement by DeepSeek's load balancer
};
/// peers: survivors fetch what they miss from each other where they can. restart: whatever happens
/// to a node that trains, everyone starts again from the newest checkpoint.
enum class Recovery { peers, restart };

/// Why everyone starts again from a checkpoint.
enum class RestartReason {
    no_replica_left,    ///< an expert of some layer has no live holder
    too_few_survivors,  ///< fewer were left than can hold every expert once: it waited for joiners
    every_loss,         ///< Recovery::restart: whatever happens to a node that trains
    planned             ///< Recovery::restart: for joins and leaves; no step is lost
};
/// "no_replica_left", "too_few_survivors", "every_loss", "planned"
ASSAY_NAMES(RestartReason, no_replica_left, too_few_survivors, every_loss, planned)

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
    Layout layout = Layout::flexible;
    int group = 1;  ///< Layout::groups: nodes per expert-parallel group (ep); divides `experts`
    Recovery recovery = Recovery::peers;
    /// Too few nodes left: wait for joiners instead of giving up.
    bool wait_for_nodes = false;
    /// How often one step may be tried again after it failed on live workers (StepFailed,
    /// GroupBroken).
    int most_retries = 3;
    /// Recovery::restart: a planned restart (join, leave) waits this long for its checkpoint.
    double checkpoint_wait_s = 600;
    /// Surplus nodes wait for a place instead of being dropped. Absent: with Recovery::restart
    /// they do, with Recovery::peers they do not (section 6.1, of DS(FT)).
    std::optional<bool> surplus_waits = {};
};

// ---- events ------------------------------------------------------------------------------------
using drive::Died;
using drive::Joined;
using drive::LeaveRequested;
using drive::Timer;
using elastic::CheckpointWritten;
using elastic::Ready;
using elastic::RestoreFailed;
using elastic::StepFailed;
struct StepDone {
    Worker worker;
    Epoch epoch;
    Step step;
    std::vector<Loads> loads;  ///< per layer: global tokens per expert in this step; equal on all
    bool operator==(const StepDone&) const = default;
};
/// The members' collectives failed though nobody died. Sent once per epoch, also while the epoch's
/// group is being built or states travel.
///   corrupt_message: a checksum did not match what `suspect` sent: try again; evict on repetition.
///   unreachable: `suspect` cannot be reached, or is stuck: it is evicted.
struct GroupBroken {
    enum class Cause { corrupt_message, unreachable };
    Epoch epoch;
    Worker suspect;  ///< a member; where nobody can be named, -1: then the epoch is tried again
    Cause cause;
    std::string why;
    bool operator==(const GroupBroken&) const = default;
};
/// To the controller, whose group broke for no reason that anyone knows is out of reach.
constexpr GroupBroken::Cause cause_of(const drive::Suspicion::Blame& blame) {
    return blame.cause == drive::Suspicion::Cause::corrupt_message
               ? GroupBroken::Cause::corrupt_message
               : GroupBroken::Cause::unreachable;
}
using Event = std::variant<Joined, Died, LeaveRequested, StepDone, Ready, CheckpointWritten,
                           StepFailed, GroupBroken, RestoreFailed, Timer>;

// ---- actions -----------------------------------------------------------------------------------
/// Until the Died of an evicted worker the controller answers nothing: the epoch was aborted just
/// before.
using drive::Evict;
using drive::StartTimer;
using drive::Stop;
/// A spare that asked to leave is dismissed at once, a member at Go.
using elastic::Dismiss;
/// Also to those that the next Reconfigure leaves out.
using elastic::Abort;
// To the training members.
using elastic::Commit;
using elastic::Go;
struct Transfer {
    int layer;
    int expert;
    Worker from, to;
    bool operator==(const Transfer&) const = default;
};
/// Sent to every member (leavers included) at the start of an epoch. A member that was not one of
/// the epoch before holds nothing, whatever it may have held once.
struct Reconfigure {
    Epoch epoch;
    std::vector<Worker> members;  ///< the new group in rank order (ascending); leavers included.
                                  ///< Spares (controller.hpp) are not in it
    std::vector<Worker>
        training;  ///< those that train from Go on: members without leavers, same order
    /// holders[layer][i]: experts of training[i], ascending, repeated per replica. Layout::groups:
    /// E/group experts, the same in every layer; groups are `group` consecutive entries of training
    std::vector<Placement> holders;
    std::vector<Transfer> transfers;    ///< sorted by (from, to, layer, expert)
    std::vector<Worker> need_dense;     ///< joiners: receive the non-expert state …
    std::vector<Worker> dense_sources;  ///< … each from the member at its place here
    std::optional<Step> restore_step;   ///< load everything from this checkpoint (0: initial state)
    Step resume_step;                   ///< the step that Go will name
    std::string why;  ///< causes, ", " between: "start", "death of 1", "join of 4",
                      ///< "leave of 2", "rebalance", "lost expert 0 of layer 1",
                      ///< "step 5 failed on worker 2: …", "corrupt message from worker 2: …",
                      ///< "worker 2 is evicted: …", "group of epoch 3 broke: …",
                      ///< "checkpoint 10 cannot be read on worker 2: …",
                      ///< "checkpoint 10 was not written in time",
                      ///< "too few nodes in whole groups"
    bool operator==(const Reconfigure&) const = default;
};
inline const std::vector<Worker>& ranks_of(const Reconfigure& plan) { return plan.training; }
/// To the training members, after the commit of step-1 and before anything else: the state before
/// `step`. Each owner writes its parts, then sends one CheckpointWritten. A step may be written
/// again after a fallback, by other owners: newer parts replace older ones.
struct WriteCheckpoint {
    Step step;
    std::vector<std::vector<Worker>> owners;  ///< [layer][expert]: the one holder that writes it
    Worker dense_owner;                       ///< writes the non-expert state
    bool operator==(const WriteCheckpoint&) const = default;
};
inline std::vector<Worker> writers_of(const WriteCheckpoint& order, const std::vector<Worker>&) {
    std::set<Worker> writers{order.dense_owner};
    for (const auto& owners : order.owners) writers.insert(owners.begin(), owners.end());
    return {writers.begin(), writers.end()};
}
using Action =
    std::variant<Reconfigure, Go, Dismiss, Commit, WriteCheckpoint, Abort, Evict, StartTimer, Stop>;
using Actions = std::vector<Action>;

/// What trained a committed step: enough to replay it with nobody killed.
struct CommittedStep {
    Step step;
    Epoch epoch;
    std::vector<Worker> training;
    std::vector<Placement> holders;
    bool operator==(const CommittedStep&) const = default;
};

}  // namespace assay::lazarus
