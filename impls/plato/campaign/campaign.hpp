// `assay campaign plato`.
#pragma once

#include "suite/drive/campaign/campaign.hpp"

namespace assay::plato {

drive::Campaign campaign_modes();

}  // namespace assay::plato
