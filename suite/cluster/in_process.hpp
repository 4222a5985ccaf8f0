// The in-process back end: ranks are threads of one process. Deterministic, no sockets.
#pragma once

#include <memory>
#include <vector>

#include "suite/cluster/communicator.hpp"

namespace assay::cluster {

/// One communicator per rank of a new group. Each may be used by one thread at a time.
std::vector<std::unique_ptr<Communicator>> make_in_process_group(
    int size, std::chrono::milliseconds timeout = std::chrono::seconds(60));

}  // namespace assay::cluster
