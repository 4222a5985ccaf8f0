// The axes by which an experiment on spot instances is told which nodes come and go.
#pragma once

#include <vector>

#include "suite/experiment/experiment.hpp"
#include "suite/scenario/traces/availability_trace.hpp"

namespace assay {

/// "spot", "mapping", "nodes", "floor", "minutes": of which availability trace so many minutes are
/// mapped to how many workers at most, and how (trace_mapping.cpp). Their first values: the first
/// 80 minutes of p3-80min on ten workers, delta_clamped.
std::vector<Axis> spot_axes();

/// What a sample's axes say; `spec` names them all. Throws UserError naming the axis that makes no
/// sense, and as availability_trace() does.
MappedTrace nodes_of(const SampleSpec& spec);

}  // namespace assay
