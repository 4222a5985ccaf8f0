// What the axes of rlvr say, and what its training is of that. Torch-free.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "impls/dr_post_training/recipes/settings.hpp"

namespace assay::dr_post_training {

struct RewardAxes : LearningRate {
    std::string model = "llama-toy", task = "close";
    std::uint64_t target_prompts = 64;  ///< given, that target rows are drawn from
    std::int64_t rounds = 40;
};
Axes<RewardAxes> reward_axes();

struct RewardSettings {
    nn::DecoderConfig model;
    std::string task = "close";
    /// Bytes of a question: words of up to four letters are turned round, sums have a number of one
    /// digit. Longer ones are beyond a policy of this size, and teach nothing.
    std::size_t longest_prompt = 64;
    // What the policy knows before it learns by reward: right answers, shown so often.
    std::int64_t start_steps = 0;  ///< at most
    double start_accuracy = 0.3;   ///< at which it is enough
    std::size_t start_rows = 32;
    double start_rate = 3e-3;

    // Specification, section 3.3, in its proportions: four updates a round, half as many target
    // prompts as prompts. The sizes are ours.
    std::int64_t rounds = 0;
    int questions = 8, answers = 8, rows_a_step = 16;  ///< of a round; of a question; of an update
    int longest = 8;                                   ///< tokens of an answer
    std::vector<double> rates;                         ///< of which validation questions choose
    double kl = 0.001;
    std::int64_t warmup = 4;  ///< updates: one round
    std::uint64_t target_prompts = 64;
    std::size_t target_rows = 4;                                  ///< of a round
    std::size_t test_questions = 192, validation_questions = 96;  ///< different ones
    std::int64_t evaluate_every = 4;                              ///< rounds
};

/// Throws UserError for an unknown model or task.
RewardSettings reward_settings(const RewardAxes& axes);

}  // namespace assay::dr_post_training
