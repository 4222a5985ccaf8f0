// Everything HeterMoE registers. A new figure is one function in experiments/ and its name here.
#include "impls/hetermoe/register.hpp"

#include "impls/hetermoe/commands/commands.hpp"

namespace assay::hetermoe {

System make_system(Claims) {
    System system;
    system.id = "hetermoe";
    system.title = "HeterMoE: mixtures of experts trained on two generations of GPUs";
    system.paper = "arXiv 2504.03871v1";
    system.plan = make_plan_command();
    return system;
}

}  // namespace assay::hetermoe
