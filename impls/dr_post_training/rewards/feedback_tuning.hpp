// Training a policy by a learnt reward: PPO, as it is or without answers that oppose the target's
// direction (specification, section 3.2, in the toy of 6.1).
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "impls/dr_post_training/rewards/feedback_settings.hpp"
#include "impls/dr_post_training/rewards/feedback_start.hpp"

namespace assay::dr_post_training {

struct FeedbackTraining {
    double rate = 0;
    double validation = 0;         ///< mean reward of answers to validation prompts, at the end
    std::vector<double> at_round;  ///< of `manners`; the first before any round
    std::vector<Manners> manners;
    std::vector<double> reward, divergence, kl;  ///< round → of its answers; nats an answer
    std::vector<double> kept;  ///< round → share of rows that groups (iif: the rollout) kept
    double drawn_tokens = 0;   ///< of answers, those of the target included
    double seconds = 0;        ///< of rounds, without evaluations
};

/// Arms: feedback_arms(). The prompts of a round are the same in all. Throws std::invalid_argument
/// for another arm, std::runtime_error where a gradient is not finite.
FeedbackTraining train_by_feedback(
    const FeedbackSettings& settings, std::string_view arm, double rate, std::uint64_t seed,
    const FeedbackStart& start,
    const std::function<void(std::int64_t round, double reward)>& progress);

/// The first evaluated round by which the judged share has fallen to half of that at the start, or
/// one more than the last.
double rounds_to_half(const FeedbackTraining& trained);

}  // namespace assay::dr_post_training
