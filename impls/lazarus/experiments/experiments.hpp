// The experiments of Lazarus: one function per figure, table or addition of our own, each defined
// in the file of its name.
#pragma once

#include "suite/experiment/experiment.hpp"

namespace assay::lazarus {

Experiment fig4();        ///< two plans for four experts: recovery probability
Experiment fig5();        ///< two placements as expert/failure-set graphs
Experiment fig8();        ///< recovery probability of whole models on a routing trace
Experiment fig10b();      ///< recovery probability of one layer under skewed loads
Experiment x_theorem1();  ///< optimality of MRO by exhaustive search
Experiment x_guarded();   ///< overlap repaired where it is not optimal
Experiment x_planner();   ///< time to plan after a failure

}  // namespace assay::lazarus
