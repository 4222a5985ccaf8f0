// What the declarations of the experiments that train models have in common: axes, metrics,
// profiles. They are part of builds with libtorch only, which trains in the module of tensors
// (training_runs.hpp).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "impls/lte/tensor_functions.hpp"
#include "suite/experiment/experiment.hpp"

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

/// An experiment with id, title, source, unsupported hook, axes model and corpus, the metrics of a
/// measured model, and compete() as its run; the caller adds its own axes, variants, profiles and
/// figure, and another run where it needs one.
Experiment training_experiment(const std::string& name, const std::string& title,
                               const std::string& where);

}  // namespace assay::lte
