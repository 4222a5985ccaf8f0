// The experiments of Lazarus: one function per figure, table or addition of our own, each defined
// in the file of its name. What of them needs tensors is in NAME_run.cpp, and a part of the module
// of tensors.
#pragma once

#include <map>
#include <string>

#include "suite/claim/claim.hpp"
#include "suite/experiment/experiment.hpp"

namespace assay::lazarus {

Experiment tab1();          ///< the models' sizes
Experiment fig2();          ///< how unevenly tokens go to experts
Experiment fig4();          ///< two plans for four experts: recovery probability
Experiment fig5();          ///< two placements as expert/failure-set graphs
Experiment fig6();          ///< a node lost every 5 minutes
Experiment fig7();          ///< a node lost every 40 minutes
Experiment fig8();          ///< recovery probability of whole models on a routing trace
Experiment fig13a();        ///< DeepSeek-V3 on hundreds of GPUs, over failure probability
Experiment fig13b();        ///< the same over cluster size
Experiment fig9();          ///< training through a spot trace
Experiment fig10a();        ///< forward throughput of one layer under skewed loads
Experiment fig10b();        ///< recovery probability of one layer under skewed loads
Experiment fig11();         ///< what the time on the spot trace goes to
Experiment fig12();         ///< Tutel, a node lost every 5 minutes
Experiment fig14();         ///< the same, idle nodes first
Experiment tab2();          ///< several nodes lost at once
Experiment x_theorem1();    ///< optimality of MRO by exhaustive search
Experiment x_guarded();     ///< overlap repaired where it is not optimal
Experiment x_planner();     ///< time to plan after a failure
Experiment x_operations();  ///< what the operations of a step take on this machine
Experiment x_live();        ///< a fault plan on a running training
Experiment x_faults();      ///< one fault of each kind on a running training
Experiment x_clocks();      ///< fig9's training, paced and simulated, side by side
Experiment x_loss();        ///< the loss while the batch shrinks with the nodes

Experiment x_guarded_scale();  ///< placements from ten nodes to thousands
Experiment x_correlated();     ///< whole racks lost

/// Checks of claims in code (claim_checks.cpp), by the name after "custom:" in
/// datasets/claims/lazarus.toml:
///   tab2_within    tab2: whether a count of states is likely among the recoverable sets of victims
std::map<std::string, CustomCheck, std::less<>> claim_checks();

}  // namespace assay::lazarus
