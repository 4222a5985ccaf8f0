// One function per experiment.
#pragma once

#include "suite/experiment/experiment.hpp"

namespace assay::rlboost {

Experiment x_exact();
Experiment x_learns();

}  // namespace assay::rlboost
