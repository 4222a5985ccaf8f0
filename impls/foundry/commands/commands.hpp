// Foundry's commands.
#pragma once

#include <memory>

#include "suite/drive/campaign/campaign.hpp"
#include "suite/experiment/system.hpp"

namespace assay::foundry {

std::unique_ptr<Command> make_plan_command();

drive::Campaign campaign_modes();

}  // namespace assay::foundry
