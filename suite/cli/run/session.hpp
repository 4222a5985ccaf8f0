// Runs a plan with progress on the terminal, what is printed when it is over, and the exit code
// that follows: the middle of `run`, `reproduce` and `highlights`.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "suite/cli/command.hpp"
#include "suite/cli/run/run_options.hpp"
#include "suite/runner/runner.hpp"

namespace assay::cli {

/// Opens the database for writing, executes, shows what happens as the options say.
runner::Outcome run_session(const RunOptions& options, const runner::Request& request,
                            const runner::Plan& plan, const Context& context);

/// A block for each experiment (results_text()), what adaptive rounds decided, where the database
/// is. `all_metrics`: every metric instead of what the figures show.
std::string session_text(const Registry& registry, const runner::Outcome& outcome,
                         const std::filesystem::path& database, bool all_metrics);

/// {"session","samples":[…],"claims":[…],"interrupted","database"}; of adaptive rounds also
/// "contrasts":[…] (runner::contrast_json()) and "saved".
nlohmann::json session_json(const Registry& registry, const runner::Outcome& outcome,
                            const std::filesystem::path& database);

/// The HTML report of the experiments that the plan has, headed by the session's claims.
std::string session_report(const Registry& registry, const runner::Plan& plan,
                           const runner::Outcome& outcome, const store::Store& store);

/// Interrupted or a sample failed: 1. Nothing but unsupported samples: 4. With `gate`: claim
/// that is contradicted and not explained 2, invalid sample 3. Else 0.
ExitCode session_exit_code(const Registry&, const runner::Outcome& outcome, bool gate);

/// What --gate exits with 2 for: a claim is contradicted, and its explanation does not hold.
bool any_unexplained(const Registry&, const std::vector<ClaimCheck>& checks);

}  // namespace assay::cli
