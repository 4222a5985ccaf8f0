// What each kind of fault does, and where: a row per kind, for every driver.
#pragma once

#include <string_view>

#include "suite/scenario/fault_plan.hpp"

namespace assay::drive {

// Every system has these two points; the others it declares (System::fault_phases).
inline constexpr const char* start_point = "start";  ///< before a step begins
inline constexpr const char* step_point = "step";    ///< in the middle of it

inline bool is_of_step(std::string_view phase) {
    return phase == start_point || phase == step_point;
}

/// Who carries it out.
enum class FaultPlace {
    driver,  ///< it, to a whole worker, which knows nothing of it
    links,   ///< what carries a worker's messages to its peers
    inside   ///< the worker, which asks for it where it can strike (Worker::struck); then it counts
};

struct FaultEffect {
    FaultPlace place;
    const char* point;  ///< where it strikes, keyed by a step and without a phase
    bool awaited;       ///< someone comes or goes: a step that all make together waits for that
};
FaultEffect effect_of(const Fault& fault);

/// It strikes later than it is sent, if at all: the worker says when.
bool struck_by_worker(const Fault& fault);

/// Its phase, or that of its kind.
std::string_view phase_of(const Fault& fault);

}  // namespace assay::drive
