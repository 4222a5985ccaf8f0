// Where between steps a fault can strike a worker of HeterMoE: the phases that fault plans can name
// (System::fault_phases), beside those of a step (suite/drive/processes/fault_points.hpp).
#pragma once

#include "suite/experiment/event_kinds.hpp"

namespace assay::hetermoe {

inline constexpr const char* regroup_point = "regroup";
inline constexpr const char* move_point = "move";

inline const FaultPhases& fault_phases() {
    static const FaultPhases phases{
        {.name = regroup_point, .says = "there is a new plan; its groups are not built yet"},
        {.name = move_point,
         .says = "the new groups are built; experts are about to move to where they are wanted",
         .corruptible = true}};
    return phases;
}

}  // namespace assay::hetermoe
