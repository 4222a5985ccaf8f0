// The command that trains on a mapped availability trace: `assay run` of the experiment that takes
// one.
#pragma once

#include <string>

#include "suite/cli/plan_trace_output.hpp"
#include "suite/experiment/system.hpp"

namespace assay::cli {

/// Of the first registered experiment with the axes "spot" (a trace's file or id) and "mapping";
/// its axes "nodes", "floor" and "minutes" are given as the view has them, of any other axis with
/// several values the first. A command that is given has been checked: `assay run` makes a plan of
/// it. Needs view.choice. `name`: file or id under which the trace can be read again as it is
/// shown; empty: it was drawn, or cut at its beginning, and is in no file.
TraceRun run_of_trace(const Registry& registry, const TraceView& view, const std::string& name);

}  // namespace assay::cli
