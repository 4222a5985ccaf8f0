// What the declarations of timed experiments have in common.
#pragma once

#include <vector>

#include "suite/experiment/experiment.hpp"

namespace assay::dr_post_training {

/// The ways of scoring, which are the variants.
std::vector<std::string> scoring_variants();

/// Id, title, source; profile toy; unsupported without the module of tensors, at profile gpu
/// without a GPU. `source`: what of the paper it is.
Experiment system_experiment(const char* name, const char* title, const char* source);

/// Variants, axes, metrics and function of whole steps in turns. The axes model and n get the
/// values of profile toy.
void declare_steps(Experiment& experiment);

/// Adds a profile that is measured, as toy otherwise.
ProfilePlan& add_measured(Experiment& experiment, Profile profile, int rounds,
                          double seconds_per_sample,
                          std::map<std::string, std::vector<Value>> axes);

}  // namespace assay::dr_post_training
