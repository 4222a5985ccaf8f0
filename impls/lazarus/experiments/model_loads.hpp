// The loads that experiments plan for: those of a model's experts at a training step, from the
// routing trace that the axis "trace" names ("smartmoe", "synthetic"; where the axis is open, a
// file).
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "impls/lazarus/data/routing_trace.hpp"
#include "impls/lazarus/policy/types.hpp"
#include "suite/experiment/experiment.hpp"

namespace assay::lazarus {

/// Why the trace is not there, or nullopt.
std::optional<std::string> missing_trace(const std::string& trace);

/// Loads of the `experts` most loaded experts in each of `layers` layers at training step 200 or
/// 4000 (the trace has every tenth iteration: the nearest ones are taken). `seed`: of a synthetic
/// trace. Throws SampleError(unsupported) without the trace.
std::vector<Loads> model_loads(const std::string& trace, std::uint64_t seed, std::int64_t step,
                               int layers, int experts);

/// Skewed like real layers, of any width: a few experts take most tokens. Drawn from `random`.
std::vector<Loads> skewed_loads(int layers, int experts, std::mt19937_64& random);

/// Throws UserError, saying what is wrong, where `trace` is a file that is no routing trace or
/// has fewer than `layers` layers at some iteration or fewer than `experts` experts.
void check_routing_file(const std::string& trace, int layers, int experts);

/// The trace's file, for Experiment::inputs; empty for a synthetic one.
std::vector<Input> trace_inputs(const std::string& trace);

/// What a training replays: "synthetic", or the trace's file. Throws SampleError(unsupported)
/// without it.
std::string routing_source(const std::string& trace);

}  // namespace assay::lazarus
