// assay plan trace: draws an availability trace, its statistics, and what becomes of it when it is
// mapped onto a few workers.
#pragma once

#include "suite/cli/command.hpp"

namespace assay::cli {

/// Joins the subcommands of `assay plan`.
void add_plan_trace_command(CLI::App& plan, Context& context);

}  // namespace assay::cli
