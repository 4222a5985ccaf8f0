// Watches the controller of a training from outside: every event it gets and every action it takes,
// checked against rules that hold for any training whose members come and go (protocol.hpp), with
// bookkeeping of its own. It knows of no driver: whoever drives a controller, across processes or
// in virtual time, or reads a recording, can show it what happens. A system with rules of its own
// derives from it.
#pragma once

#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "impls/elastic/protocol.hpp"
#include "suite/drive/policy.hpp"

namespace assay::elastic {

/// Rules: a step is begun in the plan in force, once all its members are ready, and after the last
/// one that was committed; it is committed once all its ranks have done it, or are dead, and unless
/// one said that it failed; plans count on members that are there, and go on from the last step, or
/// from a checkpoint that is whole; no group is aborted without a reason; who is dismissed has
/// asked for it, who is evicted is suspected, and nothing is begun before its end; dead workers are
/// told to write nothing; it ends well after its last step, and does nothing after its end.
class Watch {
  public:
    struct Rules {
        Step steps = 0;  ///< to commit
        /// One member, without a group that could break: a failed step is computed again in place,
        /// and silence is what it is evicted for.
        bool alone = false;
    };
    explicit Watch(Rules rules) : rules_(rules) {}

    /// The controller is about to be told of it.
    template <class... Events>
    void before(const std::variant<Events...>& event) {
        if (!stop_) std::visit([this](const auto& one) { see(one); }, event);
    }
    /// It has finished with that event, and this is one of the actions that it asked for, in order.
    template <class... Actions>
    void after(const std::variant<Actions...>& action) {
        if (stop_) return fail("an action after Stop");
        std::visit([this](const auto& one) { check(one); }, action);
    }
    /// Nothing happens any more.
    void finish() {
        if (!stop_) fail("deadlock: nothing happens any more and the controller has not stopped");
    }

    /// The rules that were broken, in the order in which that was noticed.
    const std::vector<std::string>& failures() const { return failures_; }
    const std::optional<drive::Stop>& stop() const { return stop_; }

  protected:
    // What is true of those that are of the step or the plan under way.
    bool see(const drive::Joined& joined) { return joined_.insert(joined.worker).second; }
    bool see(const drive::Died&);
    bool see(const drive::LeaveRequested& leave) { return leaving_.insert(leave.worker).second; }
    bool see(const StepFailed&);
    bool see(const StateDamaged&);
    bool see(const CheckpointWritten&);
    bool see(const RestoreFailed&);
    template <class Event>
    bool see(const Event& event) {
        if constexpr (requires { event.suspect; })
            return broke(event.epoch, event.suspect);
        else if constexpr (requires {
                               event.epoch;
                               event.step;
                           })  // the system's StepDone
            return done(event.worker, event.epoch, event.step);
        else if constexpr (requires { event.epoch; })  // its Ready
            return is_ready(event.worker, event.epoch);
        else
            return true;
    }

    void check(const Go&);
    bool check(const Commit&);  ///< true: of the step under way
    void check(const Abort&);
    void check(const drive::Evict&);
    void check(const Dismiss&);
    void check(const drive::Stop&);
    template <class Action>
    void check(const Action& action) {
        if constexpr (requires { action.resume_step; })
            check_plan({action.epoch, action.members, ranks_of(action), action.restore_step,
                        action.resume_step});
        else if constexpr (requires { writers_of(action, in_force_.ranks); })
            check_order(action.step, writers_of(action, in_force_.ranks));
    }

    void fail(std::string what) { failures_.push_back(std::move(what)); }
    bool is_dead(WorkerId worker) const { return dead_.contains(worker); }
    bool is_troubled() const { return troubled_ == in_force_.epoch; }

    std::set<WorkerId> joined_, dead_, leaving_, dismissed_, ready_, reported_;
    bool going_ = false;  ///< the plan's Go was given
    Step next_ = 0;
    std::set<Step> complete_;  ///< checkpoints

  private:
    struct Members {
        Epoch epoch = 0;
        std::vector<WorkerId> members, ranks;
        std::optional<Step> restore;
        Step resume = 0;
    };
    bool broke(Epoch epoch, WorkerId suspect);
    bool done(WorkerId worker, Epoch epoch, Step step);
    bool is_ready(WorkerId worker, Epoch epoch);
    void check_plan(Members plan);
    void check_order(Step step, const std::vector<WorkerId>& writers);
    void not_while_evicting(const char* what);

    Rules rules_;
    std::vector<std::string> failures_;
    Members in_force_;
    Epoch troubled_ = -1;       ///< the newest in which living workers failed
    bool step_failed_ = false;  ///< the one under way
    std::map<Step, std::set<WorkerId>> unwritten_;
    WorkerId suspect_ = -1;
    std::optional<WorkerId> evicting_;
    std::optional<drive::Stop> stop_;
};

/// Tells a controller, which must be as it was at first, and a watch of the recorded events.
/// Returns the rules that were broken, and first of all where the controller decides otherwise than
/// was recorded; empty: nothing. A recording may end before the controller stops.
template <drive::Policy Controller, class W = Watch>
std::vector<std::string> watch_decisions(Controller controller, W watch,
                                         const std::vector<drive::Decision<Controller>>& recorded) {
    for (std::size_t i = 0; i < recorded.size(); ++i) {
        watch.before(recorded[i].event);
        std::vector<typename Controller::Action> actions;
        controller.on(recorded[i].event, recorded[i].now_s, actions);
        for (const auto& action : recorded[i].actions)
            if constexpr (requires { watch.after(action, controller); })
                watch.after(action, controller);
            else
                watch.after(action);
        if (actions != recorded[i].actions) {
            auto failures = watch.failures();
            failures.insert(failures.begin(),
                            fmt::format("decision {}: the controller decides otherwise now", i));
            return failures;
        }
    }
    if constexpr (requires { watch.finish_early(controller); }) watch.finish_early(controller);
    return watch.failures();
}

}  // namespace assay::elastic
