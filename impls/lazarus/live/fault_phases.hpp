// Where in a reconfiguration a fault can strike a worker of Lazarus: the phases that fault plans
// can name (System::fault_phases), beside those of a step (suite/drive/processes/fault_points.hpp).
#pragma once

#include "suite/experiment/event_kinds.hpp"

namespace assay::lazarus {

inline constexpr const char* regroup_point = "regroup";    ///< before the new group is built
inline constexpr const char* transfer_point = "transfer";  ///< group built, state not yet moved

inline const FaultPhases& fault_phases() {
    static const FaultPhases phases{
        {.name = regroup_point, .says = "there is a new plan; the new group is not built yet"},
        {.name = transfer_point,
         .says = "the new group is built; states are about to move to those who need them",
         .corruptible = true}};
    return phases;
}

}  // namespace assay::lazarus
