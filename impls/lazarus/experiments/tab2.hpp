// lazarus/tab2: several nodes lost at once.
#pragma once

#include "suite/experiment/experiment.hpp"

namespace assay::lazarus {

Experiment tab2();

}  // namespace assay::lazarus
