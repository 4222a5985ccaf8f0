// Training a decoder on text with whatever feed-forward networks it is given: dense training,
// fine-tuning under a mask, adaptation of a sparsified model.
#pragma once

#include <functional>
#include <string>
#include <vector>

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

/// What is trained beside the decoder, for feed-forward networks with parameters of their own.
struct TrainedAlong {
    std::vector<ParameterBlock*> blocks;
    /// Before each forward pass: draws (noise, dropout) must be functions of the step. May be
    /// empty.
    std::function<void(std::int64_t step)> before;
    /// After each forward pass: a scalar with graph that is added to the loss, not to the curve.
    /// May be empty.
    std::function<at::Tensor()> regulariser;
};

/// Called after each update with the step and its task loss (nats per token).
/// A training that goes on from a checkpoint first calls it for the steps before, in order.
using LossCurve = std::function<void(std::int64_t step, double nll)>;

/// Trains all blocks of the decoder and those along, next-token cross entropy (mean over tokens).
/// Throws as train().
void train_language_model(const std::string& name, Decoder&, FeedForward&, const TokenData&,
                          const LanguageModelTraining&, StateKeeper&, const LossCurve& curve = {},
                          const TrainedAlong& along = {});

}  // namespace assay::nn
