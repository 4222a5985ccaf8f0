// The loads that experiments plan for: those of a model's experts at a training step, from the
// routing trace that the sample's axis "trace" names ("smartmoe", "synthetic"; where the axis is
// open, a file).
#pragma once

#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "impls/lazarus/data/routing_trace.hpp"
#include "impls/lazarus/policy/types.hpp"
#include "suite/experiment/experiment.hpp"

namespace assay::lazarus {

/// Why the trace is not there, or nullopt.
std::optional<std::string> missing_trace(const SampleSpec& spec);

/// Loads of the `experts` most loaded experts in each of `layers` layers at training step 200 or
/// 4000 (the trace has every tenth iteration: the nearest ones are taken). Throws
/// SampleError(unsupported) without the trace.
std::vector<Loads> model_loads(const SampleSpec& spec, std::int64_t step, int layers, int experts);

/// Skewed like real layers, of any width: a few experts take most tokens. Drawn from `random`.
std::vector<Loads> skewed_loads(int layers, int experts, std::mt19937_64& random);

/// Throws UserError, saying what is wrong, where the axis names a file that is no routing trace or
/// has fewer than `layers` layers at some iteration or fewer than `experts` experts.
void check_routing_file(const SampleSpec& spec, int layers, int experts);

/// The trace's file, for Experiment::inputs; empty for a synthetic one.
std::vector<Input> trace_inputs(const SampleSpec& spec);

/// What a training replays: "synthetic", or the trace's file.
std::string routing_source(const SampleSpec& spec);

}  // namespace assay::lazarus
