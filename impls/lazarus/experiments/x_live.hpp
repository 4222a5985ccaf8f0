// lazarus/x_live: a fault plan on a running training.
#pragma once

#include "suite/experiment/experiment.hpp"

namespace assay::lazarus {

Experiment x_live();

}  // namespace assay::lazarus
