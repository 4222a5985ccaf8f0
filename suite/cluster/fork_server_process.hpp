// The fork server's own process: forks workers on request, reports how they end, and kills them all
// when its lifeline closes.
#pragma once

#include "suite/cluster/launcher.hpp"

namespace assay::cluster {

/// Serves requests on `socket` (fork_protocol.hpp) until the other side is gone. Never returns. To
/// be called in a process just forked.
[[noreturn]] void run_fork_server(int socket, const WorkerMain& worker_main);

}  // namespace assay::cluster
