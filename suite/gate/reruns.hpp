// The immediate reruns of a night's candidates.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "suite/gate/night.hpp"
#include "suite/runner/runner.hpp"

namespace assay::gate {

struct RerunRequest {
    /// The program that made the row's baseline; empty: not kept.
    std::function<std::filesystem::path(const NightRow&)> old_program;
    /// How many of the newest nights left the row without verdict, since their budget was spent.
    std::function<int(const NightRow&)> open_before = [](const NightRow&) { return 0; };
    /// What of the machine changed since the row's level: night_words.hpp; empty: nothing known.
    std::function<std::string(const NightRow&)> machine_changes = [](const NightRow&) {
        return std::string();
    };
    std::size_t turn = 0;   ///< the number of the night: who begins among equals
    double budget_s = 600;  ///< for all candidates
    int rounds = 5;         ///< of a rerun without the old program
    std::string command;
    std::string night;  ///< whose they are: what was rerun before it was interrupted counts
};

struct RerunOutcome {
    std::vector<std::string> warnings;
    bool interrupted = false;
    double seconds = 0;  ///< taken from the budget; before an interruption, too
};

/// Fills in `rerun` (and adds to `seconds`) of the candidates that are not muted, and of rows that
/// are rerun for the mean (their arms' pointers must be there). With the old program both run in
/// turns, in rounds that end when the verdict stands, each series with its share of the budget; a
/// row of the control workload, and every row without the old program, is run again with this
/// program and compared, unpaired, with the baseline's values; so is one whose old program does not
/// start any more, or gives no values. What cannot be planned any more stays without rerun. What
/// the budget left undecided (`budget_ended`) is named in a warning, and comes first in the next
/// night; among equals another one begins every night. Each series may take an equal share of what
/// is left of the budget (a notice "rerun" tells it), so that one that never gets a verdict starves
/// no other. Where the budget left a row without verdict in the night before, too, the warning says
/// with what budget every series can run to its last round.
RerunOutcome rerun_candidates(const Registry&, store::Store&, const RerunRequest&,
                              std::vector<NightRow>&, const runner::Listener&);

}  // namespace assay::gate
