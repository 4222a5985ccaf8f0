// The experiments of Foundry: one function each.
#pragma once

#include "suite/experiment/experiment.hpp"

namespace assay::foundry {

Experiment coldstart();   ///< until graphs can be launched, and what their first launches pay
Experiment fig1();        ///< what capture is of a worker's initialisation
Experiment fig11();       ///< templates among the graphs of all batch sizes
Experiment storage();     ///< what an archive takes on disk
Experiment x_fleet();     ///< time to first token where servers are started and killed
Experiment x_keys();      ///< what topology keys overlook
Experiment x_policies();  ///< each way to restore, over a server's life
Experiment x_recovery();  ///< a deployment that loses nodes and gets them back

}  // namespace assay::foundry
