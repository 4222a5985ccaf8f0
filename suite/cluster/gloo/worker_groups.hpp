// The groups of one worker over Gloo, with the faults of its links in between.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "suite/cluster/faults/fault_layer.hpp"
#include "suite/cluster/gloo/gloo.hpp"

namespace assay::cluster {

/// Used by one thread; abort() by any.
class WorkerGroups {
  public:
    /// `port`: of the rendezvous. `timeout`: bound on any one operation, connect() included.
    /// `faults`: of this worker's links.
    WorkerGroups(WorkerId self, std::uint16_t port, Seconds timeout,
                 std::shared_ptr<LinkFaults> faults);
    /// A group of `workers`, of which this is one; ranks are places in the list. Messages carry
    /// checksums. As GlooContext::make_group().
    std::unique_ptr<Communicator> connect(const std::string& key,
                                          const std::vector<WorkerId>& workers);
    /// All operations of these groups end now. `dead`: who is gone; below 0: nobody, the step
    /// failed on another worker.
    void abort(const std::vector<std::string>& keys, WorkerId dead);

  private:
    WorkerId self_;
    Seconds timeout_;
    GlooContext gloo_;
    std::shared_ptr<LinkFaults> faults_;
};

}  // namespace assay::cluster
