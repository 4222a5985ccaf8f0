// Who is there, and where everybody stands. Knows nothing of plans or steps.
//
//   pending    reported for duty; their join wait is not over
//   newcomers  alive and free: to be taken in as soon as there is a place for them
//   members    of the current epoch: those that train, and those on their way out (departing)
//   dropped    alive, once left over when whole groups were formed; only a restart from storage
//              takes them back
//
// Newcomers and dropped ones are spares: no message concerns them until they are members.
#pragma once

#include <cstddef>
#include <set>
#include <vector>

#include "impls/lazarus/policy/controller/protocol.hpp"

namespace assay::lazarus {

class Membership {
  public:
    /// Where a worker stood when it died or asked to leave.
    enum class Standing { unknown, waiting, member, gone };  ///< waiting: pending or spare

    /// A worker reports for duty: pending from now on. False: it is known already, or gone (its
    /// death overtook its report).
    bool join(Worker);
    /// Removes the worker for good.
    Standing die(Worker);
    /// A member is marked to leave at the next begin_departures(); anybody else is removed for
    /// good.
    Standing request_leave(Worker);

    /// Every pending worker is a newcomer now.
    void end_join_wait() { newcomers_.merge(pending_); }
    /// Every dropped worker is a newcomer again.
    void recall_dropped() { newcomers_.merge(dropped_); }
    /// Takes in newcomers, at most so many, lowest ids first; returns them in ascending order.
    std::vector<Worker> admit(std::size_t most);
    /// Members that train are spares from now on: newcomers, or dropped. Those among them that
    /// asked to leave are removed for good instead, and returned.
    std::vector<Worker> leave_out(const std::vector<Worker>& workers, bool drop);
    /// Every newcomer is dropped.
    void drop_newcomers() { dropped_.merge(newcomers_); }
    /// Members that asked to leave stop training from this epoch on; returns the new ones.
    std::vector<Worker> begin_departures();
    /// Removes departing members for good; returns them.
    std::vector<Worker> dismiss_departing();

    const std::set<Worker>& pending() const { return pending_; }
    const std::set<Worker>& newcomers() const { return newcomers_; }
    const std::set<Worker>& dropped() const { return dropped_; }
    const std::set<Worker>& members() const { return members_; }  ///< alive; leavers included
    bool wants_out() const { return !leave_requested_.empty(); }
    std::vector<Worker> training() const;  ///< members that train in this epoch, ascending

  private:
    bool is_known(Worker) const;

    std::set<Worker> pending_, newcomers_, dropped_, members_, leave_requested_, departing_, gone_;
};

}  // namespace assay::lazarus
