// Timelines: what happened to whom and when, above it the throughput where it was recorded. Both
// need whole samples.
#pragma once

#include <span>
#include <string>

#include "suite/experiment/experiment.hpp"
#include "suite/report/figures/timeline_events.hpp"
#include "suite/store/records.hpp"

namespace assay::report {

/// Experiments with several variants: overlay_figure(). Others in detail: one block per case,
/// variant, profile, provenance and fault plan (its first sample): throughput over time, lines for
/// faults and what followed, one lane per rank. Several fault plans are told apart below the
/// titles.
std::string timeline_figure(const Experiment&, std::span<const store::Sample>, EventKinds);

/// The variants of one scenario over one another. One panel per case, profile, provenance and fault
/// plan, with the first sample of each variant: the curve that the figure's metric names
/// (of a sample without it: "throughput", which the head then says); ticks for deaths, leaves and
/// joins; the curve "workers" as steps; per variant a lane with its stops, their reasons where
/// there is room, and pauses. Time in minutes beyond ten of them.
std::string overlay_figure(const Experiment&, std::span<const store::Sample>, EventKinds);

}  // namespace assay::report
