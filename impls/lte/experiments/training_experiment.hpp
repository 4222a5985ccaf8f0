// What the experiments that train models have in common: axes, metrics, profiles, and the way from
// a variant's name to a measured model. These experiments are part of builds with libtorch only.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "suite/experiment/experiment.hpp"
#include "suite/experiment/recorder.hpp"

#include "impls/lte/recipes/sparse_model.hpp"
#include "suite/experiment/axis_value.hpp"

namespace assay::lte {

/// Axis "sparsity": what is asked for; each sample's `ffn_sparsity` says what was reached.
Axis sparsity_axis(std::vector<Value> values);
Axis model_axis(std::vector<Value> values);
Axis corpus_axis();

/// Profiles toy, small and gpu. `toy_axes` narrows the sweep at toy; at small every axis is swept
/// whole, with three seeds and five times the training; at gpu models of five million parameters
/// and SmolLM2 train on the first GPU, for longer still (recipes/sizes.cpp).
std::vector<ProfilePlan> training_profiles(std::map<std::string, std::vector<Value>> toy_axes,
                                           int toy_rounds, double toy_seconds_per_sample);

/// An experiment with id, title, source, unsupported hook, axes model and corpus and the metrics
/// above; the caller adds its own axes, variants, profiles, figure and run.
Experiment training_experiment(const std::string& name, const std::string& title,
                               const std::string& where);

/// Runs `body` on a workbench; a divergence becomes an event and a failed sample.
void on_workbench(const SampleSpec& spec, Recorder& recorder,
                  const std::function<void(Workbench&)>& body);

/// "lte" (our schedule at the sample's sparsity), "lte_published" (the paper's loss, axis eta) or a
/// rival by name, trained.
SparseModel make_competitor(Workbench& bench, const SampleSpec& spec);
/// The same, measured and recorded: a whole sample.
void compete(const SampleSpec& spec, Recorder& recorder);

}  // namespace assay::lte
