// The groups of one worker, over whatever back end, with the faults of its links in between.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "suite/cluster/collectives/group_maker.hpp"
#include "suite/cluster/faults/fault_layer.hpp"

namespace assay::cluster {

/// Used by one thread; abort() by any.
class WorkerGroups {
  public:
    /// `maker`: gloo_groups() of gloo/gloo.hpp, or nccl_groups() of nccl/nccl.hpp. `timeout`: for
    /// how long a cut link is waited for. `faults`: of this worker's links.
    WorkerGroups(WorkerId self, std::unique_ptr<GroupMaker> maker, Seconds timeout,
                 std::shared_ptr<LinkFaults> faults);
    /// A group of `workers`, of which this is one; ranks are places in the list. Messages carry
    /// checksums and can be corrupted where they lie in the host's memory. As
    /// GroupMaker::make_group().
    std::unique_ptr<Communicator> connect(const std::string& key,
                                          const std::vector<WorkerId>& workers);
    /// All operations of these groups end now. `dead`: who is gone; below 0: nobody, the step
    /// failed on another worker.
    void abort(const std::vector<std::string>& keys, WorkerId dead);

  private:
    WorkerId self_;
    Seconds timeout_;
    std::unique_ptr<GroupMaker> maker_;
    std::shared_ptr<LinkFaults> faults_;
};

}  // namespace assay::cluster
