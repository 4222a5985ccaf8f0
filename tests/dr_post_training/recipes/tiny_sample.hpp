// A sample of fine-tuning on a model so small that every arm takes moments.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "impls/dr_post_training/experiments/training_samples.hpp"

namespace assay::dr_post_training {

/// As it is read of a case. Throws UserError for what cannot be.
inline FineTuning tiny_sample(std::string arm, const Case& more = {}) {
    SampleSpec spec;
    spec.axes = {{"model", "llama-tiny"}, {"steps", std::int64_t{8}}};
    for (const auto& [axis, value] : more) spec.axes[axis] = value;
    FineTuning tuning;
    static_cast<SftAxes&>(tuning) = sft_axes().read(spec);
    tuning.arm = std::move(arm);
    tuning.seed = 3;
    tuning.besides = FineTuning::Besides::equal_time;
    return tuning;
}

}  // namespace assay::dr_post_training
