// Timelines: what happened to whom and when, above it the throughput where it was recorded.
#pragma once

#include <span>
#include <string>

#include "suite/experiment/experiment.hpp"
#include "suite/store/records.hpp"

namespace assay::report {

/// Experiments with several variants: overlay_figure() (timeline_overlay.hpp). Others in detail:
/// one block per case, variant, profile, provenance and fault plan (its first sample): throughput
/// over time, lines for faults and what followed, one lane per rank. Several fault plans are told
/// apart below the titles. Needs whole samples.
std::string timeline_figure(const Experiment&, std::span<const store::Sample>);

}  // namespace assay::report
