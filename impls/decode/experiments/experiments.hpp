// One function per experiment.
#pragma once

#include "suite/experiment/experiment.hpp"

namespace assay::decode {

Experiment x_batch();
Experiment x_prefix();
Experiment x_pressure();
Experiment x_move();
Experiment x_swap();

}  // namespace assay::decode
