// Training a decoder on text with whatever feed-forward networks it is given: dense training,
// fine-tuning under a mask, adaptation of a sparsified model; and its perplexity on held-out text.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "impls/nn/decoder.hpp"
#include "impls/nn/training/corpus.hpp"
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

/// What decides the batches of a training on text, as a checkpoint keeps it: {"sequences", "seed",
/// "compute", "text": digest of the data in hexadecimal}.
nlohmann::json batch_settings(const TokenData&, const LanguageModelTraining&);

/// Throws UserError, saying what differs and what to do, unless a checkpoint of the training `name`
/// that keeps `kept` goes on with `wanted`.
void require_same_batches(const std::string& name, const nlohmann::json& kept,
                          const nlohmann::json& wanted);

/// Perplexity of held-out text.
struct Evaluation {
    std::int64_t windows = 0;  ///< scored; fewer than asked for where the text has no more
    std::int64_t tokens = 0;   ///< scored
    std::int64_t bytes = 0;    ///< that the scored tokens stand for
    double nll_nats_per_token = 0;
    double bits_per_byte = 0;
    double perplexity() const;  ///< exp(nll)
};

/// Over at most `windows` held-out windows (0: all), without gradients. Throws UserError when the
/// data has none.
Evaluation evaluate(const Decoder&, FeedForward&, const TokenData&, int windows, int sequences = 8,
                    at::ScalarType compute = at::kFloat);

}  // namespace assay::nn
