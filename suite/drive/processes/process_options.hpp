// How a run across processes is set up.
#pragma once

#include <optional>
#include <vector>

#include "suite/cluster/processes/supervisor.hpp"
#include "suite/drive/driver.hpp"
#include "suite/scenario/fault_plan.hpp"

namespace assay::drive {

/// How scenario time passes. real: as the machine's, or so many times as fast. steady: the same,
/// and what workers do is held to modelled durations. steps: by steps that all members of a group
/// make together (paced_time.hpp).
enum class Pace { real, steady, steps };

struct ProcessOptions {
    cluster::SupervisorOptions supervisor;
    double operation_timeout_s = 10;  ///< real seconds of one collective; death is noticed long
                                      ///< before
    FaultPlan faults;
    FaultPhases phases;     ///< that the plan can name
    double duration_s = 0;  ///< scenario seconds after which time is up; 0: never
    Pace pace = Pace::real;
    double speed = 1;           ///< real, steady: scenario seconds per second
    double typical_step_s = 1;  ///< steps: scenario seconds of one, roughly

    // Of roles (process_driver.hpp).
    double detect_s = 0;  ///< steady: scenario seconds after which a death is known …
    double boot_s = 0;    ///< … and from a spawn to its worker being there
    /// … and for which a worker may hang: longer, and it counts as dead, which is known then.
    std::optional<double> patience_s{};  ///< none: detect_s
    std::vector<Offer> offers{};
    double notice_s = 0;  ///< scenario seconds before an offer ends
};

}  // namespace assay::drive
