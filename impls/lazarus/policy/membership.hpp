// Who is there: workers waiting to be taken in, members of the current epoch, those on their way
// out. Knows nothing of plans or steps.
#pragma once

#include <set>
#include <vector>

#include "impls/lazarus/policy/protocol.hpp"

namespace assay::lazarus {

class Membership {
  public:
    /// Where a worker stood when it died or asked to leave.
    enum class Standing { unknown, pending, member, gone };

    /// A worker reports for duty. False: it is known already, or gone (its death overtook its
    /// report).
    bool join(Worker);
    /// Removes the worker for good.
    Standing die(Worker);
    /// A member is marked to leave at the next begin_departures(); anybody else is removed for
    /// good.
    Standing request_leave(Worker);

    /// Takes in every pending worker; returns them in ascending order.
    std::vector<Worker> admit_pending();
    /// Members that asked to leave stop training from this epoch on; returns the new ones.
    std::vector<Worker> begin_departures();
    /// Removes departing members for good; returns them.
    std::vector<Worker> dismiss_departing();

    const std::set<Worker>& pending() const { return pending_; }
    const std::set<Worker>& members() const { return members_; }  ///< alive; leavers included
    bool wants_out() const { return !leave_requested_.empty(); }
    std::vector<Worker> training() const;  ///< members that train in this epoch, ascending

  private:
    std::set<Worker> pending_, members_, leave_requested_, departing_, gone_;
};

}  // namespace assay::lazarus
