// The experiments that compute on tensors, one function each; builds with libtorch have them.
#pragma once

#include <string>
#include <vector>

#include "suite/experiment/experiment.hpp"

namespace assay::dr_post_training {

Experiment sft_perplexity();
Experiment rlvr();
Experiment rlhf();
Experiment sft_downstream();
Experiment case_study();
Experiment x_sets();
Experiment x_mix();
Experiment x_scaling();

Experiment overhead();
Experiment scoring_cost();
Experiment peak_memory();
Experiment breakdown();
Experiment overhead_h200();
Experiment bias_exposure();
Experiment compression();
Experiment x_choose();

Experiment x_faults();

// What the declarations have in common.

/// Axes of a fine-tuning on a toy model, then the open readings of the specification, whose first
/// values samples do not name.
std::vector<Axis> sft_axes();
std::vector<Axis> reading_axes();
/// sft_perplexity at profile toy, for equal steps: without what is trained for equal time.
Experiment equal_steps_at_toy();
/// Profile toy; readings keep their first value unless they are asked for.
ProfilePlan sft_profile(double seconds_per_sample);
/// Whatever recipes/settings.hpp refuses.
void validate_sft(const SampleSpec& spec);

}  // namespace assay::dr_post_training
