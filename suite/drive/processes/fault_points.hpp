// Where workers wait for faults that are keyed by a step, so that each strikes at exactly that
// point.
#pragma once

#include <string>
#include <string_view>

namespace assay::drive {

// Every system has these two; the others it declares (System::fault_phases).
inline constexpr const char* start_point = "start";  ///< before a step begins
inline constexpr const char* step_point = "step";    ///< in the middle of it

struct FaultPoint {
    std::string phase;
    long step = 0;  ///< phases that are not of a step: of the first that comes at or after it
};

inline bool is_of_step(std::string_view phase) {
    return phase == start_point || phase == step_point;
}

}  // namespace assay::drive
