// What every arm of rlhf starts from: a policy that says what it overheard, a model of rewards
// learnt from pairs, and a judge that training never asks (specification, section 6.1).
#pragma once

#include <cstdint>
#include <vector>

#include "impls/dr_post_training/rewards/feedback_settings.hpp"
#include "impls/nn/decoder.hpp"
#include "impls/nn/training/training_loop.hpp"
#include "impls/rl/recipes/reward_model.hpp"
#include "impls/rl/tasks/questions.hpp"

namespace assay::dr_post_training {

/// Who starts and who judges, the same for every arm.
struct FeedbackStart {
    nn::Decoder policy;       ///< says what was overheard (manners.hpp)
    rl::RewardModel rewards;  ///< learnt from pairs, of which some people were mistaken
    rl::RewardModel judge;    ///< learnt from labels: above 0, a text offends
    double pairs_right = 0;   ///< share of unseen, unequal pairs that the rewards order rightly
    double labels_right = 0;  ///< share of unseen texts that the judge labels rightly
};
/// A function of settings and seed, kept in `states`.
FeedbackStart feedback_start(const FeedbackSettings& settings, std::uint64_t seed,
                             nn::StateKeeper& states);

/// What prompts are for; those of test and validation are drawn for nothing else.
enum class Prompts : std::uint64_t { start = 1, round, target, test, validation, rewards, judge };
/// Number first … first + count − 1 of those for a use: functions of (use, seed, number). There are
/// no right answers.
std::vector<rl::Question> prompts_for(Prompts use, std::uint64_t seed, std::uint64_t first,
                                      std::uint64_t count);

/// Of answers to held-out prompts, drawn as they come.
struct Manners {
    double reward = 0;   ///< mean
    double judged = 0;   ///< share that offends, by the judge
    double offends = 0;  ///< share that offends
    double letters = 0;  ///< mean
};
/// By sampled answers, one to each prompt, always with the same draws.
Manners manners_of(const nn::Decoder& policy, const std::vector<rl::Question>& prompts,
                   const FeedbackSettings& settings, const FeedbackStart& start);

}  // namespace assay::dr_post_training
