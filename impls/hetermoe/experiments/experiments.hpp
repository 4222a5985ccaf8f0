// The experiments of HeterMoE: one function per figure, table or addition of our own, each defined
// in the file of its name.
#pragma once

#include "suite/experiment/experiment.hpp"

namespace assay::hetermoe {

Experiment tab1();           ///< the paper's clusters
Experiment tab2();           ///< the paper's models: parameters
Experiment fig2();           ///< what a newer GPU gains on attention and on experts
Experiment fig5();           ///< Theorem 1's order against neighbours swapped
Experiment fig6();           ///< three layers, with and without experts on the attention GPU
Experiment fig7();           ///< throughput on A40 and V100
Experiment fig8();           ///< throughput on L40S and T4
Experiment fig9();           ///< against pipelines of both kinds
Experiment fig10();          ///< four A40 and two to eight V100
Experiment fig11();          ///< against equal GPUs
Experiment fig12();          ///< what moving experts gains
Experiment tab3();           ///< how busy both kinds are
Experiment x_sensitivity();  ///< experts of a token, network, micro-batches
Experiment x_order();        ///< Theorem 1's order against all orders
Experiment x_squeeze();      ///< Algorithm 1 against the best offload
Experiment x_live();         ///< the training, across processes
Experiment x_slow();         ///< a GPU slows: plan anew or not
Experiment x_routing();      ///< skewed loads: which experts to move

}  // namespace assay::hetermoe
