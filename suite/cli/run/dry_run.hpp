// The plan as a table, with what it will take.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "suite/cli/command.hpp"
#include "suite/gate/plan/night_plan.hpp"
#include "suite/runner/runner.hpp"

namespace assay::cli {

/// One row per experiment, a total, and the order of the samples when there are few.
std::string plan_text(const runner::Plan& plan);

/// {"hash","seconds","bytes","left_out","samples":[{"experiment","variant","case","profile",
/// "provenance","seed","round","scenario","timeout_s","seconds","bytes"}]}
nlohmann::json plan_json(const runner::Plan& plan);

/// Prints the one or the other; what a dry run does. Returns exit_ok.
ExitCode print_plan(const runner::Plan& plan, bool json);

/// A night's: one line per series, called as reports call its rows (a benchmark program as a whole,
/// since only a run tells what is in it).
std::string night_plan_text(const gate::NightPlan& night);

/// plan_json() with "row" in each sample.
nlohmann::json night_plan_json(const gate::NightPlan& night);

}  // namespace assay::cli
