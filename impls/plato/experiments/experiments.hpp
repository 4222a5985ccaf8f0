// The experiments of Plato: one function each.
#pragma once

#include "suite/experiment/experiment.hpp"

namespace assay::plato {

Experiment throughput();  ///< answer tokens per second, by mode
Experiment pipeline();    ///< what decoding while the plan is written gains
Experiment kv();          ///< prompt tokens computed again, by level of reuse
Experiment shape();       ///< by how densely nodes depend on each other

}  // namespace assay::plato
