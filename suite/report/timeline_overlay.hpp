// Timelines of several variants on the same scenario, over one another.
#pragma once

#include <span>
#include <string>

#include "suite/experiment/experiment.hpp"
#include "suite/store/records.hpp"

namespace assay::report {

/// One panel per case, profile, provenance and fault plan, with the first sample of each variant:
/// the series that the figure's metric names over time (of a sample without it: "throughput", which
/// the head then says); ticks for deaths, leaves and joins; the series "workers" as steps; per
/// variant a lane with its restarts, their reasons where there is room, and regroups. Time in
/// minutes beyond ten of them. Needs whole samples.
std::string overlay_figure(const Experiment&, std::span<const store::Sample>);

}  // namespace assay::report
