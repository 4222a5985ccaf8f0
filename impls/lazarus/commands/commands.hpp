// The commands of Lazarus.
//   assay plan lazarus:     replica counts, placement and recovery probabilities for the user's own
//                           loads
//   assay campaign lazarus: seeded schedules of faults against the controller, in virtual time and
//                           with live processes; every rule of the protocol is checked in each
//   assay calibrate lazarus: what the cost model prices, and what the paper's rates imply for it
#pragma once

#include <memory>

#include "suite/drive/campaign/campaign.hpp"
#include "suite/experiment/system.hpp"

namespace assay::lazarus {

std::unique_ptr<Command> make_plan_command();
std::unique_ptr<Command> make_costs_command();

/// Its variants are the systems of lazarus/fig9.
drive::Campaign campaign_modes();

}  // namespace assay::lazarus
