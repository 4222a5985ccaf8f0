// Training a policy by reward, where each group of parameters learns from the answers that point
// the way the target does (specification, section 3.3).
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "impls/dr_post_training/rewards/reward_settings.hpp"
#include "impls/nn/decoder.hpp"
#include "impls/nn/training/training_loop.hpp"
#include "impls/rl/tasks/questions.hpp"

namespace assay::dr_post_training {

/// The policy that every arm starts from: shown right answers of the task until it answers a share
/// of unseen questions, or for the most steps. A function of settings and seed, kept in `states`.
nn::Decoder started_policy(const RewardSettings& settings, std::uint64_t seed,
                           nn::StateKeeper& states);

/// What questions are for. Those of a test, and those of validation, are asked for nothing else.
enum class Questions : std::uint64_t { start = 1, round, target, test, validation };

/// Number first … first + count − 1 of those for a use: functions of (task, use, seed, number).
std::vector<rl::Question> questions_for(const RewardSettings& settings, Questions use,
                                        std::uint64_t seed, std::uint64_t first,
                                        std::uint64_t count);
/// Up to `count` different ones for a use, in the order of their numbers: short questions come
/// again and again, and a few of them would decide. Fewer where a task has no more.
std::vector<rl::Question> different_questions(const RewardSettings& settings, Questions use,
                                              std::uint64_t seed, std::size_t count);

/// The round that counts as early: the first after 15 % of them, as the paper's 12 of 80.
std::int64_t early_round(std::int64_t rounds);

struct RewardedTraining {
    double rate = 0;
    double validation = 0;                   ///< accuracy on validation questions, at the end
    std::vector<double> at_round, accuracy;  ///< of held-out questions; the first before any round
    double early_accuracy = 0;               ///< after early_round()
    std::vector<double> reward;              ///< round → mean of its answers
    std::vector<double> kept;                ///< round → share of rows that groups kept; 1: all
    std::vector<double> undecided;           ///< round → share of answers without an advantage
    double drawn_tokens = 0;                 ///< of answers, those of the target included
    double seconds = 0;                      ///< of rounds, without evaluations
};

/// Arms: full (GRPO as it is); global, layer (rows with a negative score are dropped, by one vote
/// or map by map; the score is taken against the policy gradient of answers to the target's
/// prompts; one of exactly 0 is kept). The questions of a round are the same in all arms. Throws
/// std::invalid_argument for another arm, std::runtime_error where a gradient is not finite.
RewardedTraining train_by_reward(const RewardSettings& settings, std::string_view arm, double rate,
                                 std::uint64_t seed, const nn::Decoder& start,
                                 const std::function<void(std::int64_t round, double reward)>&);

}  // namespace assay::dr_post_training
