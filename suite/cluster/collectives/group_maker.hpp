// What every back end has in which groups come and go: Gloo (gloo/gloo.hpp), NCCL (nccl/nccl.hpp).
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "suite/cluster/collectives/breakable_wait.hpp"
#include "suite/cluster/collectives/communicator.hpp"

namespace assay::cluster {

/// Makes the groups of one process. Used by one thread; abort() by any.
class GroupMaker {
  public:
    virtual ~GroupMaker() = default;
    /// Collective over the members of group `key` (unique per epoch; the keys given to
    /// Communicator::shrink are of the same kind). Throws CommunicatorBroken when a member does not
    /// come in time, and when aborted.
    virtual std::unique_ptr<Communicator> make_group(const std::string& key, int rank,
                                                     int size) = 0;
    /// Makes a running or later make_group(key) and all operations of that group throw.
    virtual void abort(const std::string& key, const std::string& why) noexcept = 0;
    /// Whether the host can read the buffers of its communicators.
    virtual bool in_host_memory() const = 0;
};

/// Where members tell each other what they need before they are connected.
class Rendezvous {
  public:
    virtual ~Rendezvous() = default;
    /// Collective over `size` members of `key`, which is used once: what each of them says, by
    /// rank. Throws CommunicatorBroken when one does not come within `timeout`, and when `state` is
    /// broken.
    virtual std::vector<std::string> exchange(const std::string& key, int rank, int size,
                                              const std::string& mine,
                                              const std::shared_ptr<BreakableWait>& state,
                                              std::chrono::milliseconds timeout) = 0;
};

/// Among threads of one process.
std::unique_ptr<Rendezvous> make_local_rendezvous();

}  // namespace assay::cluster
