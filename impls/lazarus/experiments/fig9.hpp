// lazarus/fig9: the spot trace.
#pragma once

#include "suite/experiment/experiment.hpp"

namespace assay::lazarus {

Experiment fig9();

}  // namespace assay::lazarus
