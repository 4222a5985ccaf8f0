// LTE's experiments, one function each; the files of this folder name their figures.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "suite/experiment/experiment.hpp"

namespace assay::lte {

// Arithmetic, and kernels timed: in every build.
Experiment tab1();
Experiment fig8();
Experiment fig8b();  ///< with libtorch also at profile gpu

// With libtorch: models are trained.
Experiment fig2();
Experiment fig3();
Experiment fig5();
Experiment fig6();
Experiment fig7();
Experiment fig9();
Experiment fig10();
Experiment fig11();
Experiment fig12();
Experiment fig13();
Experiment fig14();
Experiment fig15();
Experiment fig16();
Experiment tab2();
Experiment x_schedule();
Experiment x_smollm2();
Experiment x_routers();
Experiment x_product();

// What the declarations of the experiments that train models have in common: axes, metrics,
// profiles. They are part of builds with libtorch only; training_runs.cpp is what they run, in the
// module of tensors.

/// Axis "sparsity": what is asked for; each sample's `ffn_sparsity` says what was reached.
Axis sparsity_axis(std::vector<Value> values);
Axis model_axis(std::vector<Value> values);
Axis corpus_axis();

/// Axis "recipe" of those that train LTE with our schedule. It is named in every case, so that no
/// sample of one recipe is taken for another's: fix_recipe(), once the profiles are there, has all
/// of them run `fast`.
void add_recipe_axis(Experiment& experiment);
void fix_recipe(Experiment& experiment);

/// Profiles toy, small and gpu. `toy_axes` narrows the sweep at toy; at small every axis is swept
/// whole, with three seeds and five times the training; at gpu models of five million parameters
/// and SmolLM2 train on the first GPU, for longer still (recipes/materials.cpp).
std::vector<ProfilePlan> training_profiles(std::map<std::string, std::vector<Value>> toy_axes,
                                           int toy_rounds, double toy_seconds_per_sample);

/// An experiment with id, title, source, unsupported hook, axes model and corpus, the metrics of a
/// measured model, perplexity over sparsity as its figure, and compete() as its run; the caller
/// adds its own axes, variants and profiles, and another figure or run where it needs one.
Experiment training_experiment(const std::string& name, const std::string& title,
                               const std::string& where);

}  // namespace assay::lte
