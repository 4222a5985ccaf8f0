// What a new epoch looks like: who holds what, and what has to travel for it. A pure function of
// the members, what they hold, and the loads.
#pragma once

#include <vector>

#include "impls/lazarus/policy/holdings.hpp"
#include "impls/lazarus/policy/protocol.hpp"

namespace assay::lazarus {

/// Fills in members, training, holders, transfers and dense sources; the caller adds epoch,
/// steps and reason. `training` is a subset of `members`, both ascending; N·c ≥ E is required, with
/// Layout::groups whole groups. Layout::flexible: every layer is mapped on its own to the nodes
/// that need the fewest new experts. Layout::groups: place_in_groups() (expert_parallel.hpp).
/// Joiners fetch the dense state from as many members as there are, so that none sends it twice
/// while another could.
/// `from_storage`: every member loads its state, nothing travels between them.
Reconfigure plan_reconfiguration(const ControllerConfig& config, const std::vector<Worker>& members,
                                 const std::vector<Worker>& training, const Holdings& holdings,
                                 const std::vector<Loads>& loads, bool from_storage);

}  // namespace assay::lazarus
