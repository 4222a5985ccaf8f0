// The axes by which an experiment on spot instances is told which nodes come and go.
#pragma once

#include <cstdint>
#include <string>

#include "suite/experiment/declaration.hpp"
#include "suite/scenario/traces/availability_trace.hpp"

namespace assay {

/// Of which availability trace so many minutes are mapped to how many workers at most, and how
/// (trace_mapping.cpp).
struct SpotNodes {
    std::string spot;
    NodeMapping mapping{};
    int nodes = 10, floor = 3;
    std::int64_t minutes = 80;
};

/// Of the same names. Their first values: the first 80 minutes of p3-80min on ten workers,
/// delta_clamped.
Axes<SpotNodes> spot_axes();

/// Throws UserError where the trace is shorter, and as availability_trace() and map_trace() do.
MappedTrace nodes_of(const SpotNodes& spot, std::uint64_t seed);

}  // namespace assay
