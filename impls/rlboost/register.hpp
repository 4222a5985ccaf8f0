#pragma once

#include "suite/experiment/system.hpp"

namespace assay::rlboost {

System make_system(Claims claims);

}  // namespace assay::rlboost
