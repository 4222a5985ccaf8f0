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

struct TraceView {
    AvailabilityTrace trace;
    std::optional<MappingChoice> choice;
    std::optional<MappedTrace> mapped;  ///< present where `choice` is
};

nlohmann::json to_json(const TraceView& view);
std::string to_text(const TraceView& view, std::size_t width);

}  // namespace assay::cli
