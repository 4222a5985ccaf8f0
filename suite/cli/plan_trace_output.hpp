// What `assay plan trace` prints: a drawing, statistics, and the fault plan of a mapped trace.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "suite/scenario/availability_trace.hpp"

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

}  // namespace assay::cli
