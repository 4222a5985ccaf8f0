// Where the samples of a session keep what others of them need too. In the module of tensors.
#pragma once

#include <fmt/format.h>
#include <filesystem>
#include <memory>
#include <string>

#include "impls/dr_post_training/experiments/training_samples.hpp"
#include "impls/nn/hashes.hpp"
#include "impls/nn/training/checkpoint_files.hpp"

namespace assay::dr_post_training {

/// `what`: everything that the kept state is a function of. A sample that shares nothing keeps
/// nothing.
inline std::unique_ptr<nn::StateKeeper> shared_states(const OfSession& sample,
                                                      const std::string& what) {
    if (sample.shared.empty()) return std::make_unique<nn::NoState>();
    return std::make_unique<nn::FolderState>(
        sample.shared / fmt::format("{:016x}", nn::hash_bytes(what.data(), what.size())));
}

/// Of the model that fine-tunings of a seed start from.
inline std::unique_ptr<nn::StateKeeper> base_states(const OfSession& sample,
                                                    const SftSettings& settings) {
    return shared_states(sample, fmt::format("dr_post_training base {} {} {}", settings.model.name,
                                             settings.base_steps, sample.seed));
}

/// Of an arm fine-tuned at one rate.
inline std::unique_ptr<nn::StateKeeper> tuned_states(const FineTuning& tuning,
                                                     const SftSettings& settings, double rate) {
    return shared_states(tuning, fmt::format("dr_post_training tuned {} at {} from seed {}: {}",
                                             tuning.arm, rate, tuning.seed, words(settings)));
}

}  // namespace assay::dr_post_training
