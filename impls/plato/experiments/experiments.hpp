// The experiments of Plato: one function each.
#pragma once

#include "suite/experiment/experiment.hpp"

namespace assay::plato {

Experiment throughput();   ///< answer tokens per second, by mode
Experiment pipeline();     ///< what decoding while the plan is written gains
Experiment kv();           ///< prompt tokens computed again, by level of reuse
Experiment shape();        ///< by how densely nodes depend on each other
Experiment batch();        ///< the time of a step, by sequences
Experiment concurrency();  ///< many questions at once
Experiment fidelity();     ///< what linking changes of what the model says
Experiment quality();      ///< a proxy: how well context helps to foresee recorded answers
Experiment x_context();    ///< the order of dependencies in prompts
Experiment x_planner();    ///< the model writes plans, with the grammar as a mask and without
Experiment x_payoff();     ///< a rule that says when planning pays
Experiment x_options();    ///< a closing node, a second model
Experiment x_faults();     ///< what faults cost

}  // namespace assay::plato
