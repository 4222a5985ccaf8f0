// The commands of Dr. Post-Training.
#pragma once

#include <memory>

#include "suite/drive/campaign/campaign.hpp"
#include "suite/experiment/system.hpp"

namespace assay::dr_post_training {

std::unique_ptr<Command> make_plan_command();  ///< `assay plan dr_post_training`
drive::Campaign campaign_modes();              ///< `assay campaign dr_post_training`

}  // namespace assay::dr_post_training
