// What the axes of rlhf say, and what its training is of that. Torch-free.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "impls/dr_post_training/recipes/settings.hpp"

namespace assay::dr_post_training {

/// Whose answers steer, and by which loss.
enum class TargetAnswers { self, held_out };
ASSAY_NAMES(TargetAnswers, self, held_out)
enum class TargetLoss { reward, token_pg, train_loss };
ASSAY_NAMES(TargetLoss, reward, token_pg, train_loss)

struct FeedbackAxes : LearningRate {
    std::string model = "llama-toy";
    TargetAnswers target{};
    TargetLoss direction{};
    std::int64_t rounds = 8;
};
Axes<FeedbackAxes> feedback_axes();

struct FeedbackSettings {
    nn::DecoderConfig model;
    // What the policy says before it learns from feedback, as those it overheard.
    std::int64_t start_steps = 0;
    std::size_t start_rows = 32;
    double start_rate = 3e-3;

    // The model of rewards learns from pairs, the judge from labels: other texts, other weights.
    nn::DecoderConfig reward_model, judge;
    std::int64_t reward_steps = 0;
    std::size_t reward_rows = 32;  ///< pairs, or labelled texts, of a step
    double reward_rate = 3e-3, mistaken = 0.1;

    // Specification, section 3.2; sizes and rates ours.
    std::int64_t rounds = 0;
    std::uint64_t prompts = 64;  ///< of a round
    int rows_a_step = 16, epochs = 4;
    int longest = 9;  ///< tokens of an answer
    std::vector<double> rates;
    double value_rate_factor = 10;
    double kl = 0.02, kl_target = 70;
    TargetAnswers target{};
    TargetLoss direction{};
    std::uint64_t target_prompts = 1024;
    std::size_t target_rows = 16;  ///< of an update
    std::uint64_t test_prompts = 256, validation_prompts = 128;
    std::int64_t evaluate_every = 1;  ///< rounds
};

/// The arms: ppo, iif (the rollout is filtered once, before the epochs), layer, global.
const std::vector<std::string>& feedback_arms();

/// Throws UserError for an unknown model.
FeedbackSettings feedback_settings(const FeedbackAxes& axes);

}  // namespace assay::dr_post_training
