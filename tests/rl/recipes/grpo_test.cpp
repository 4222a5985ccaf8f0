#include "impls/rl/recipes/grpo.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/nn/small_decoders.hpp"
#include "tests/rl/recipes/small_policy.hpp"

namespace assay::rl {
namespace {

std::vector<Question> questions(int count) {
    std::vector<Question> made;
    for (int i = 0; i < count; ++i)
        made.push_back(question("close", 1, static_cast<std::uint64_t>(i)));
    return made;
}

/// Knows the form of an answer, and some answers.
void start_by_supervision(nn::Decoder& policy, const std::vector<Question>& asked) {
    auto tokens = at::full({static_cast<std::int64_t>(asked.size()), 20}, end_token, at::kLong);
    auto targets = at::full({tokens.size(0), 19}, -1, at::kLong);
    std::int64_t scored = 0;
    for (std::size_t row = 0; row < asked.size(); ++row) {
        const auto text = asked[row].prompt + asked[row].answer;
        for (std::size_t at = 0; at < text.size(); ++at) {
            const auto r = static_cast<std::int64_t>(row), here = static_cast<std::int64_t>(at);
            tokens[r][here] = text[at];
            if (at >= asked[row].prompt.size()) targets[r][here - 1] = text[at], ++scored;
        }
    }
    std::vector<nn::TrainedBlock> blocks;
    for (auto& block : policy.blocks()) blocks.emplace_back(block.get());
    nn::TrainingOptions options;
    options.steps = 75;
    options.learning_rate = 5e-3;
    nn::NoState keeper;
    nn::DenseFeedForward dense;
    nn::TrainingCallbacks callbacks;
    callbacks.loss = [&](std::int64_t) {
        const auto mean = policy.loss(tokens, dense, at::kFloat, targets) / scored;
        return nn::TrainingStep{mean, mean.item<double>()};
    };
    nn::train("start", blocks, options, callbacks, keeper, 0);
}

GrpoOptions short_answers() {
    GrpoOptions options;
    options.longest = 7;
    options.adam.learning_rate = 5e-4;
    return options;
}

TEST(Grpo, RaisesTheReward) {
    nn::Decoder policy(small_policy(), 1);
    const auto asked = questions(8);
    start_by_supervision(policy, asked);
    Grpo grpo(policy, short_answers());
    // A round's reward is noisy, and where training starts depends on how the processor rounds.
    double first = 0, last = 0;
    for (int round = 0; round < 60; ++round) {
        const double reward = grpo.round(asked).reward;
        if (round < 4) first += reward / 4;
        if (round >= 56) last += reward / 4;
    }
    EXPECT_GT(first, 0.05) << "there was nothing to begin with";
    EXPECT_LT(first, 0.8) << "there was nothing left to learn";
    EXPECT_GT(last, first + 0.15);
}

TEST(Grpo, IsAFunctionOfItsArguments) {
    const auto trained = [] {
        nn::Decoder policy(small_policy(), 1);
        GrpoOptions options;
        options.longest = 7;
        options.rows_a_step = 24;
        options.epochs = 2;
        options.kl = 0.1;
        Grpo grpo(policy, options);
        grpo.round(questions(8));
        grpo.round(questions(4));
        return policy.blocks()[1]->digest();
    };
    EXPECT_EQ(trained(), trained());
}

TEST(Grpo, EqualRewardsLeaveThePolicyAsItIs) {
    nn::Decoder policy(small_policy(), 1);  // knows nothing: every reward is 0
    const auto before = policy.blocks()[1]->values().clone();
    Grpo grpo(policy, short_answers());
    const Round round = grpo.round(questions(4));
    ASSERT_EQ(round.reward, 0);
    EXPECT_EQ(round.undecided_groups, 1);
    EXPECT_TRUE(at::equal(before, policy.blocks()[1]->values()));
}

TEST(Grpo, ThePenaltyPullsBackToTheReference) {
    const auto asked = questions(6);
    const auto divergence = [&](double kl) {
        nn::Decoder policy(small_policy(), 1);
        start_by_supervision(policy, asked);
        auto options = short_answers();
        options.kl = kl;
        Grpo grpo(policy, options);
        double last = 0;
        for (int round = 0; round < 10; ++round) last = grpo.round(asked).divergence;
        return last;
    };
    EXPECT_LT(divergence(1.0), divergence(1e-6));
}

TEST(Grpo, GradientsMayBeMadeBySomebodyElse) {
    nn::Decoder policy(small_policy(), 1);
    const auto before = policy.blocks()[1]->values().clone();
    GrpoOptions options;
    options.longest = 7;
    options.rows_a_step = 8;
    std::int64_t rows = 0;
    Grpo grpo(policy, options, [&](nn::Decoder& of, const UpdateRows& update) {
        rows += update.rollouts.rows();
        EXPECT_EQ(of.blocks()[1]->grad().abs().max().item<double>(), 0);
    });
    EXPECT_EQ(grpo.round(questions(4)).updates, 4);
    EXPECT_EQ(rows, 32);
    EXPECT_TRUE(at::equal(before, policy.blocks()[1]->values()));
}

}  // namespace
}  // namespace assay::rl
