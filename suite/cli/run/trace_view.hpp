// What `assay plan trace` prints: a drawing, statistics, the fault plan of a mapped trace, and the
// `assay run` that trains under it.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "suite/experiment/system.hpp"
#include "suite/scenario/traces/availability_trace.hpp"

namespace assay::cli {

struct MappingChoice {
    NodeMapping mapping = NodeMapping::min;
    int nodes = 10, floor = 1;
    std::uint64_t seed = 1;
};

/// The command that trains on the mapped trace.
struct TraceRun {
    std::string command;  ///< as typed into a shell; empty: there is none, and …
    std::string says;     ///< … why; with a command: what it leaves out, or nothing
};

struct TraceView {
    AvailabilityTrace trace;
    std::optional<MappingChoice> choice;
    std::optional<MappedTrace> mapped;  ///< present where `choice` is
    TraceRun run;                       ///< the same
};

nlohmann::json to_json(const TraceView& view);
std::string to_text(const TraceView& view, std::size_t width);

/// `assay run` of the first registered experiment with the axes "spot" (a trace's file or id) and
/// "mapping"; its axes "nodes", "floor" and "minutes" are given as the view has them, of any other
/// axis with several values the first. A command that is given has been checked: `assay run` makes
/// a plan of it. Needs view.choice. `name`: file or id under which the trace can be read again as
/// it is shown; empty: it was drawn, or cut at its beginning, and is in no file.
TraceRun run_of_trace(const Registry& registry, const TraceView& view, const std::string& name);

}  // namespace assay::cli
