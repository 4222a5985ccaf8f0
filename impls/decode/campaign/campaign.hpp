// `assay campaign decode`.
#pragma once

#include "suite/drive/campaign/campaign.hpp"

namespace assay::decode {

drive::Campaign campaign_modes();

}  // namespace assay::decode
