// Training a decoder on text with whatever feed-forward networks it is given: dense training,
// fine-tuning under a mask, adaptation of a sparsified model.
#pragma once

#include <functional>
#include <string>

#include "impls/nn/decoder.hpp"
#include "impls/nn/training/token_data.hpp"
#include "impls/nn/training/training_loop.hpp"

namespace assay::nn {

struct LanguageModelTraining {
    TrainingOptions options;
    int sequences = 16;      ///< per step
    std::uint64_t seed = 1;  ///< of the batches
    at::ScalarType compute = at::kFloat;
    std::int64_t checkpoint_every = 0;
};

/// Called after each update with the step and its task loss (nats per token).
using LossCurve = std::function<void(std::int64_t step, double nll)>;

/// Trains all blocks of the decoder, next-token cross entropy (mean over tokens). Throws as
/// train().
void train_language_model(const std::string& name, Decoder&, FeedForward&, const TokenData&,
                          const LanguageModelTraining&, StateKeeper&, const LossCurve& curve = {});

}  // namespace assay::nn
