// A sample of fine-tuning on a model so small that every arm takes moments.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "suite/experiment/experiment.hpp"

namespace assay::dr_post_training {

inline SampleSpec tiny_sample(std::string variant, Case more = {}) {
    SampleSpec spec;
    spec.experiment = "dr_post_training/sft_perplexity";
    spec.variant = std::move(variant);
    spec.axes = {{"model", "llama-tiny"}, {"steps", std::int64_t{8}}};
    for (auto& [axis, value] : more) spec.axes[axis] = value;
    spec.seed = 3;
    return spec;
}

}  // namespace assay::dr_post_training
