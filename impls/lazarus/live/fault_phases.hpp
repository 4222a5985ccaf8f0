// Where in a step, or in the reconfiguration after it, a fault can strike a worker of Lazarus: the
// phases that fault plans can name (System::fault_phases), and the points at which workers wait.
#pragma once

#include <string>
#include <string_view>

#include "suite/scenario/fault_plan.hpp"

namespace assay::lazarus {

// Of a step.
inline constexpr const char* start_point = "start";  ///< before it begins
inline constexpr const char* step_point = "step";    ///< tokens of the first MoE layer are here
// Of a reconfiguration.
inline constexpr const char* regroup_point = "regroup";    ///< before the new group is built
inline constexpr const char* transfer_point = "transfer";  ///< group built, state not yet moved

/// A worker waits there until its fault has been injected, so that faults keyed by a step strike at
/// exactly that point.
struct FaultPoint {
    std::string phase;  ///< one of the above
    long step = 0;      ///< of a reconfiguration: of the first that resumes at or after it
};

/// Not of a reconfiguration.
inline bool is_of_step(std::string_view phase) {
    return phase == start_point || phase == step_point;
}

inline const FaultPhases& fault_phases() {
    static const FaultPhases phases{
        {.name = regroup_point, .says = "there is a new plan; the new group is not built yet"},
        {.name = transfer_point,
         .says = "the new group is built; states are about to move to those who need them",
         .corruptible = true}};
    return phases;
}

}  // namespace assay::lazarus
