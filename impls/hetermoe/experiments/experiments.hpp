// The experiments of HeterMoE: one function per figure, table or addition of our own, each defined
// in the file of its name.
#pragma once

#include <vector>

#include "suite/experiment/experiment.hpp"

namespace assay::hetermoe {

Experiment tab1();       ///< the paper's clusters
Experiment tab2();       ///< the paper's models: parameters
Experiment fig2();       ///< what a newer GPU gains on attention and on experts
Experiment fig5();       ///< Theorem 1's order against neighbours swapped
Experiment fig6();       ///< three layers, with and without experts on the attention GPU
Experiment x_order();    ///< Theorem 1's order against all orders
Experiment x_squeeze();  ///< Algorithm 1 against the best offload
Experiment x_live();     ///< the training, across processes

}  // namespace assay::hetermoe
