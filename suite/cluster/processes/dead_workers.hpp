// What becomes of dead workers, from the kernel to WorkerDied: their parent (the fork server, or
// this process where they are exec'ed) reaps them; the supervisor notices the death by itself (a
// pidfd, or a heartbeat that stays away), takes their last words and reports each once
// (Supervisor::Impl, supervisor_loop.hpp).
#pragma once

#include <sys/types.h>

#include <optional>
#include <vector>

#include "suite/base/process.hpp"

namespace assay::cluster {

ExitStatus to_exit_status(int wait_status);  ///< as from waitpid()

/// In the supervisor's process, which may have children of its own: waits for this one child, whose
/// pidfd was opened when it started, kills the process group that it led, and reaps it. nullopt:
/// somebody else in this process has taken its exit status.
std::optional<ExitStatus> reap_child(Process& child) noexcept;

struct EndedChild {
    pid_t pid;
    int wait_status;  ///< as from waitpid()
};

/// In the fork server: reaps all children that have ended, and first kills whatever they had
/// started in their process groups. Does not wait for others.
std::vector<EndedChild> reap_ended_children();

/// In the fork server: SIGKILL to a worker that is not reaped yet, and to its process group.
void kill_worker_group(pid_t worker);

}  // namespace assay::cluster
