// The immediate reruns of a night's candidates.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "suite/gate/night.hpp"
#include "suite/runner/runner.hpp"

namespace assay::gate {

struct RerunRequest {
    std::filesystem::path old_program;  ///< the baseline's; empty: not kept
    double budget_s = 600;              ///< for all candidates
    int rounds = 5;                     ///< of a rerun without the old program
    bool lock = true;
    std::string command;
};

struct RerunOutcome {
    std::vector<std::string> warnings;
    bool interrupted = false;
};

/// Fills in `rerun` of the candidates that are not muted (their arms' pointers must be there). With
/// the old program both run in turns, in rounds that end when the verdict stands, each series with
/// its share of the budget; a row of the control workload, and every row without the old program,
/// is run again with this program and compared, unpaired, with the baseline's values. What the
/// budget does not allow stays without rerun.
RerunOutcome rerun_candidates(const Registry&, store::Store&, const RerunRequest&,
                              std::vector<NightRow>&, const runner::Listener&);

}  // namespace assay::gate
