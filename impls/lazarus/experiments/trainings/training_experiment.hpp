// What the experiments have in common that train a paper's model on the clock (fig6, fig7, fig9,
// fig11, fig12, fig14): axes, metrics, and how a sample is simulated at the ends of what is not
// known.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "impls/lazarus/spot/assumed_inputs.hpp"
#include "suite/experiment/experiment.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::lazarus {

// ---- axes --------------------------------------------------------------------------------------
Axis model_axis();
Axis relaunch_axis();
Axis trace_axis();
Axis modelled_steps_axis();
Axis cluster_axis(std::string id);
/// One per assumed input but overlap, whose first value is a word for what the profiles say.
std::vector<Axis> profile_input_axes();
Axis overlap_axis();

/// Series name them only where they differ: an empty sweep for each of the assumed inputs' axes.
void leave_unnamed(ProfilePlan& plan);

/// Throws UserError for what of the axes above makes no sense; `spec` names every axis.
void check_training_axes(const SampleSpec& spec);

/// MoE layers that are routed and planned one by one: all twelve at profile paper, four elsewhere,
/// each for three.
int routed_layers(const SampleSpec& spec);

/// The assumed inputs that the case itself names.
AssumedValues assumed_values(const SampleSpec& spec);

// ---- metrics -----------------------------------------------------------------------------------
/// Those of record_course() (spot/fig9_course.hpp).
std::vector<MetricSpec> training_metrics();

/// NAME_at_ends of each: the same at profile paper, simulated, labelled by the ends.
std::vector<MetricSpec> metrics_at_ends(const std::vector<MetricSpec>& metrics,
                                        const std::vector<std::string>& names);

using SimulateWith = std::function<void(const AssumedValues&, Recorder&)>;

/// Simulates what the case says; at profile paper then every corner of the ranges of what it does
/// not name, of which only the metrics `names` are kept, as NAME_at_ends.
void simulate_with_ends(const SampleSpec& spec, const std::vector<std::string>& names,
                        Recorder& recorder, const SimulateWith& simulate);

}  // namespace assay::lazarus
