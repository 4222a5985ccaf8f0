// The in-process back end: ranks are threads of one process. Deterministic, no sockets.
//
// Destroying a member's communicator is its death: what it sent before is still delivered, peers
// that wait for more throw CommunicatorBroken. Sums are made in rank order. Ranks that call
// different collectives, or with different sizes, get std::logic_error.
#pragma once

#include <memory>
#include <vector>

#include "suite/cluster/collectives/communicator.hpp"

namespace assay::cluster {

/// One communicator per rank of a new group. Each may be used by one thread at a time. `timeout`
/// bounds every wait for a peer, also in groups made by shrink().
std::vector<std::unique_ptr<Communicator>> make_in_process_group(
    int size, std::chrono::milliseconds timeout = std::chrono::seconds(60));

}  // namespace assay::cluster
