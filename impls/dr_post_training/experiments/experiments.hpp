// The experiments of Dr. Post-Training: one function each.
#pragma once

#include "suite/experiment/experiment.hpp"

namespace assay::dr_post_training {

Experiment crossovers();    ///< from how many target rows and tokens on which scoring is cheaper
Experiment x_projection();  ///< ours: is top-k the nearest subset?

}  // namespace assay::dr_post_training
