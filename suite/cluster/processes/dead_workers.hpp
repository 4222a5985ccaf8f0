// What becomes of dead workers, from the kernel to WorkerDied: the fork server, whose children they
// are, reaps them and tells the supervisor how they ended; the supervisor notices the death by
// itself (a pidfd, or a heartbeat that stays away), takes their last words and reports each once
// (Supervisor::Impl, supervisor_loop.hpp).
#pragma once

#include <sys/types.h>

#include <vector>

namespace assay::cluster {

struct EndedChild {
    pid_t pid;
    int wait_status;  ///< as from waitpid()
};

/// Reaps all children of this process that have ended, and first kills whatever they had started in
/// their process groups. Does not wait for others.
std::vector<EndedChild> reap_ended_children();

/// SIGKILL to a worker that is not reaped yet, and to its process group.
void kill_worker_group(pid_t worker);

}  // namespace assay::cluster
