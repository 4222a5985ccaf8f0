// A member's half of a training whose members come and go, written once for every clock: builds its
// groups, takes over states, computes, applies and writes when it is told to (protocol.hpp). What
// that is in one system is behind an interface; when any of it may be done, the system's controller
// decides.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "impls/elastic/protocol.hpp"
#include "suite/drive/worker.hpp"

namespace assay::elastic {

/// What a new plan means for a member, whatever else its Reconfigure says. Its groups are shared:
/// thousands of members of a simulated training have the same ones.
struct Plan {
    std::shared_ptr<const drive::Group> members;  ///< build its groups and exchange states
    std::shared_ptr<const drive::Group> ranks;    ///< of those, who compute its steps
    std::optional<Step> restore;  ///< everything comes from this checkpoint, not from members
    Step resume = 0;              ///< the step that Go will name
    Epoch epoch() const { return members ? members->number : 0; }
};

/// Of a Reconfigure with `epoch`, `members`, `restore_step` and `resume_step`.
template <class Reconfigure>
Plan plan_of(const Reconfigure& plan) {
    const auto group = [&](const std::vector<WorkerId>& members) {
        return std::make_shared<const drive::Group>(drive::Group{plan.epoch, members});
    };
    return {.members = group(plan.members),
            .ranks = group(ranks_of(plan)),
            .restore = plan.restore_step,
            .resume = plan.resume_step};
}

/// A step that was computed, and not applied: the system's StepDone; or why it must not be.
struct Outcome {
    std::string wrong;
    drive::AnyMessage done;
};

/// Steps and states of one worker: on tensors in a process, on hashes in virtual time. What it does
/// together with others throws cluster::CommunicatorBroken where a group breaks; what else it
/// throws ends the worker.
class Member {
  public:
    virtual ~Member() = default;

    /// A Reconfigure, which is in force from now on. Groups of the one before are left.
    virtual Plan plan(const drive::AnyMessage& reconfigure) = 0;
    virtual void connect(const Plan&) {}
    /// The states that the plan gives it: Ready, with what the system adds, or RestoreFailed.
    virtual drive::AnyMessage take(const Plan& plan) = 0;
    /// It goes: from now on it holds what the plan gives it and nothing else. Asked for at each Go.
    virtual void keep(const Plan&) {}
    /// `go`: Go, with what drivers add.
    virtual Outcome compute(const Plan& plan, const drive::AnyMessage& go) = 0;
    /// What it says of it: none where nothing is to be said.
    virtual drive::AnyMessage apply(Step step) = 0;
    /// CheckpointWritten, or what the system says of a checkpoint that could not be written; none
    /// where nothing is to be said.
    virtual drive::AnyMessage write(const drive::AnyMessage& /*order*/, const drive::Strike&) {
        return {};
    }

    /// Why nothing that it holds can be trusted; empty: it can.
    virtual std::string damaged() { return {}; }
    /// Faults that strike its state do so now.
    virtual void suffer(const drive::Strike&) {}
    /// On another thread where it is a process: what it does together with others in that epoch
    /// ends at once.
    virtual void abort(const drive::AnyMessage& /*abort*/) {}
    /// To a question that is the system's own; none where nothing is to be said.
    virtual drive::AnyMessage answer(const drive::AnyMessage& /*question*/) { return {}; }
};

/// How long each lasts on a modelled cluster, in seconds of the scenario. Zero: as long as it takes
/// where it is really done.
class Times {
  public:
    virtual ~Times() = default;
    virtual double connecting(WorkerId, const Plan&) { return 0; }  ///< once all members are there
    virtual double moving(WorkerId, const Plan&) { return 0; }  ///< states of others, or restoring
    virtual double computing(WorkerId, const Plan&, Step) { return 0; }  ///< until its gradients
    virtual double summing(WorkerId, const Plan&, Step) { return 0; }    ///< once all have theirs
    virtual double writing(WorkerId, const drive::AnyMessage& /*order*/) { return 0; }
};

// Points where faults can strike in virtual time, beside those of a step
// (suite/drive/fault_effects.hpp) and of a reconfiguration (Manner).
inline constexpr const char* ready_point = "ready";        ///< it has said so
inline constexpr const char* computed_point = "computed";  ///< the step, and has not said so
inline constexpr const char* told_point = "told";          ///< it has said so
inline constexpr const char* commit_point = "commit";      ///< told to, and has not applied it

struct Manner {
    /// Where in a reconfiguration faults can strike: before groups are built, before states move.
    std::string regroup, move;
    /// A damaged member says StateDamaged and waits for a plan that restores it. Else it throws
    /// std::runtime_error: others have to do without it.
    bool outlives_damage = false;
};

/// The worker, the member and the times must outlive it. A group that breaks ends what it was
/// doing, and it waits for what it is told next.
drive::Protocol member(drive::Worker& me, Member& member, Manner manner, Times& times);

/// In real time.
drive::Protocol member(drive::Worker& me, Member& member, Manner manner);

}  // namespace assay::elastic
