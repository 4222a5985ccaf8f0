// A worker's protocol (worker.hpp) in a process of its own.
//
// Paced, every message carries the scenario time at which it was sent ("at_s"), where the machine's
// clock stands then ("real_s") and how fast scenario time passes ("speed"). A piece of work begins
// when its message was sent or when the one before it ended, and the worker says so no earlier than
// the modelled device would; so the machine's lateness does not add up.
#pragma once

#include "suite/cluster/processes/launcher.hpp"
#include "suite/drive/worker.hpp"

namespace assay::drive {

/// For make_fork_server().
cluster::WorkerMain process_of(WorkerProtocol protocol);

}  // namespace assay::drive
