// Workers of roles (driver.hpp) in processes of their own.
//
// Paced, every message carries the scenario time at which it was sent ("at_s"). A piece of work
// begins when its message was sent or when the one before it ended, and what the worker says is
// said when the modelled device would be done; so the machine's lateness does not add up. Beside
// messages, which have a "type", frames of the driver's own have a "drive":
//   to the worker  begin, continue (after a point), dismiss, met (what it does together came out);
//                  at once: inject (a fault), slow, freeze, send and expect (transfers)
//   from it        joined, rests (it waits for a message), until (it says nothing before),
//   at_point,
//                  struck, arrives and turns_away (together), arrived and broken (transfers),
//                  leave_requested
#pragma once

#include <vector>

#include "suite/cluster/processes/launcher.hpp"
#include "suite/drive/driver.hpp"

namespace assay::drive {

/// For make_fork_server(): one server starts workers of all roles.
cluster::WorkerMain process_of(std::vector<Role> roles);

}  // namespace assay::drive
