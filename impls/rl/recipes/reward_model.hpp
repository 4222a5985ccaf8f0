// A model of what people prefer: a decoder that gives a text one number, trained on pairs of which
// one was preferred, or on texts with a yes or no.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "impls/nn/decoder.hpp"
#include "impls/nn/training/training_loop.hpp"
#include "impls/rl/recipes/rollouts.hpp"
#include "impls/rl/recipes/scalar_head.hpp"

namespace assay::rl {

class RewardModel {
  public:
    /// Of fresh weights; bytes as tokens. Knows nothing: gives 0.
    RewardModel(const nn::DecoderConfig& config, std::uint64_t seed);
    /// What it makes of texts of one byte or more, read at their last byte: fp32 [texts], with
    /// graph. Throws UserError for a text longer than the model's context.
    at::Tensor worth(std::span<const std::string> texts) const;
    /// The same without gradients, as numbers.
    std::vector<double> worths(std::span<const std::string> texts) const;

    std::vector<nn::TrainedBlock> blocks();

  private:
    nn::Decoder trunk_;
    ScalarHead head_;
};

/// Judges an answer by the text of its question and itself. The model outlives the judge.
Judge judge_by(const RewardModel& model);

/// Two texts of which the first was preferred.
struct Preference {
    std::string better, worse;
};
/// −ln σ(worth of the better − worth of the worse), mean (Bradley and Terry; Ziegler et al., arXiv
/// 1909.08593, eq. 1 for two): scalar, with graph.
at::Tensor preference_loss(const RewardModel&, std::span<const Preference>);

/// −ln p of the labels where a text is a yes with probability σ(worth), mean: scalar, with graph.
struct Labelled {
    std::string text;
    bool yes = false;
};
at::Tensor label_loss(const RewardModel&, std::span<const Labelled>);

/// `steps` updates of Adam at `rate`, rising over the first tenth and falling in a line to 0 at the
/// end. loss: of a step, numbered from 0. Kept under `name` when it is done, and taken from there.
void train_reward_model(RewardModel& model, std::int64_t steps, double rate,
                        const std::string& name, nn::StateKeeper& states,
                        const std::function<at::Tensor(std::int64_t step)>& loss);

}  // namespace assay::rl
