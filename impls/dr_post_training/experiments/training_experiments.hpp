// The experiments that compute on tensors, one function each.
#pragma once

#include <string>
#include <vector>

#include "impls/dr_post_training/experiments/training_samples.hpp"

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

// What declarations of fine-tunings have in common.

/// Profile toy, where readings keep their first value; the figure of sft_perplexity.
Experiment fine_tuning(const char* name, const char* title, const char* source);
/// Axes, and what makes the samples. `check_first`: before what every fine-tuning is refused for.
Experiment with_arms(Experiment said, const std::vector<std::string>& arms,
                     FineTuning::Besides besides = {},
                     void (*check_first)(const FineTuning&) = nullptr);

}  // namespace assay::dr_post_training
