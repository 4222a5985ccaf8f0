// Runs a plan with progress on the terminal: the middle of `run` and `reproduce`.
#pragma once

#include "suite/cli/run_options.hpp"
#include "suite/runner/runner.hpp"

namespace assay::cli {

/// Opens the database for writing, executes, shows what happens as the options say.
runner::Outcome run_session(const RunOptions& options, const runner::Request& request,
                            const runner::Plan& plan, const Context& context);

}  // namespace assay::cli
