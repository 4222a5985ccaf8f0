// What a trainer in a process of its own is told, and what it says: messages of suite/drive.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "impls/nn/files/described.hpp"
#include "impls/rl/method/advantages.hpp"
#include "suite/drive/messages.hpp"

namespace assay::rl {

struct TrainerSettings {
    nn::DecoderConfig model;
    std::uint64_t seed = 1;  ///< of the first weights
    double learning_rate = 1e-3;
    double clip_low = 0.2, clip_high = 0.2;  ///< of the ratio of probabilities
    double gradient_clip = 1;                ///< global norm; 0: none
    Estimator estimator = Estimator::grpo;
    // Right answers that it is shown before it learns by reward, so many rows a step, for so many
    // steps or until it gives that share of answers itself.
    std::string task = "sort";
    int difficulty = 1;
    std::int64_t shown_steps = 0;
    double start_accuracy = 1;
    int shown_rows = 32;
    double shown_rate = 3e-3;
    std::string folder;  ///< where it writes weights
};
ASSAY_FIELDS(TrainerSettings, model, seed, learning_rate, clip_low, clip_high, gradient_clip,
             estimator, task, difficulty, shown_steps, start_accuracy, shown_rows, shown_rate,
             folder)

/// A response and what it is worth.
struct TrainedRow {
    std::vector<int> prompt, tokens;
    std::vector<float> logprobs;  ///< of each token, by whoever drew it; empty: they were given
    double advantage = 0;
};
ASSAY_ROW(TrainedRow, prompt, tokens, logprobs, advantage)

/// Rows of one update of the weights that it told of last; answered by Weights.
struct Update {
    std::vector<TrainedRow> rows;
};
/// A version is there to be loaded, as a GGUF file; the first one without having been asked for.
struct Weights {
    int version = 0;
    std::string path;
    std::string digest;  ///< SHA-256 of the file
    double loss = 0, gradient_norm = 0;
    /// The largest difference of a log-probability from what whoever drew it said, nats.
    double mismatch = 0;
};
ASSAY_MESSAGE(Update, "update", rows)
ASSAY_MESSAGE(Weights, "weights", version, path, digest, loss, gradient_norm, mismatch)

}  // namespace assay::rl
