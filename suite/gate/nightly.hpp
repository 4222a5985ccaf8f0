// One night of a suite, from its plan to its verdict.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "suite/gate/night.hpp"
#include "suite/gate/plan/night_plan.hpp"
#include "suite/gate/plan/suite_file.hpp"
#include "suite/runner/runner.hpp"

namespace assay::gate {

struct NightRequest {
    SuiteFile suite;
    std::string baseline;                         ///< name; usually that of the suite
    bool fresh = false;                           ///< never go on with an interrupted night
    std::string command;                          ///< argv, for the record
    std::vector<std::string> warnings;            ///< what is to be told beside the night's own
    std::vector<std::string> gpus;                ///< names of the machine's, for levels
    std::map<std::string, std::string> suspects;  ///< added to the session's
};

struct NightOutcome {
    Night night;
    bool interrupted = false;  ///< the same call goes on where this one stopped
    bool resumed = false;
};

/// Runs what is missing of the night, compares, reruns candidates, moves the regressions, stores
/// all. The machine is the caller's to lock, for the whole of it. A night that was interrupted less
/// than a day ago goes on, in its samples or in its reruns. One of other programs (this one, its
/// plug-ins, the suite's benchmark programs) does not, which is said; one during which they changed
/// is an error and marked (store::mixed_mark). Keeps this program beside the database
/// (KeptPrograms) and removes those that no baseline needs.
NightOutcome run_night(const Registry&, const NightPlan&, const NightRequest&, store::Store&,
                       const runner::Listener&);

}  // namespace assay::gate
