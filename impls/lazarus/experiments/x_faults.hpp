// lazarus/x_faults: one fault of each kind on a running training.
#pragma once

#include "suite/experiment/experiment.hpp"

namespace assay::lazarus {

Experiment x_faults();

}  // namespace assay::lazarus
