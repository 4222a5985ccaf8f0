// Whose the machine is and what is wrong with it, told before something is measured on it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "suite/measure/hardware/machine_state.hpp"
#include "suite/runner/machine_lock.hpp"
#include "suite/runner/runner.hpp"

namespace assay::cli {

/// The machine-wide lock, where the plan measures or emulates something and `wanted`: waits at most
/// `wait_s` seconds for another run that has it, and says so. To be taken before
/// warnings_before_run(): a machine is not quiet while another run has it. UserError: as
/// runner::MachineLock.
std::optional<runner::MachineLock> lock_machine(const runner::Plan& plan, bool wanted,
                                                const std::string& command, double wait_s = 0);

/// Where the plan measures or emulates something: waits at most `settle_s` seconds for a machine
/// that was just loaded to become quiet, and says so; then prints the machine's warnings as short
/// lines on standard error and returns their names ("load, governor"; empty: none), for the
/// session's record. Takes a fifth of a second where nothing is wrong. Nothing is stopped by a
/// warning. nullopt: nothing is measured, and nothing was looked at.
std::optional<std::string> warnings_before_run(const runner::Plan& plan, double settle_s);

/// What a wait needs of the world; a test gives it another one.
struct QuietWait {
    double look_s = 0;  ///< how long one look takes
    std::function<std::vector<measure::BusyProcess>()> look;
    /// Before each further look: seconds waited so far, what was busy in the last look.
    std::function<void(double waited_s, const std::vector<measure::BusyProcess>& busy)> tell;
};
/// Looks until nothing was busy for two seconds on end. False: it was still busy after `most_s`.
bool wait_until_quiet(const QuietWait& wait, double most_s);

}  // namespace assay::cli
