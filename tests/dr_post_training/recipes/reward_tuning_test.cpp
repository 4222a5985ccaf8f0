// Training by reward on a policy so small that rounds take moments.
#include "impls/dr_post_training/recipes/reward_tuning.hpp"

#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "suite/base/error.hpp"

namespace assay::dr_post_training {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::Ge;
using testing::Gt;
using testing::Le;
using testing::Lt;

RewardSettings tiny() {
    at::set_num_threads(1);
    SampleSpec spec;
    spec.axes = {{"model", "llama-tiny"}, {"task", "close"}, {"rounds", std::int64_t{3}}};
    auto settings = reward_settings(spec);
    settings.start_steps = 150;  // so that it answers some rightly, and others not
    settings.start_rate = 5e-3;
    settings.answers = 8;
    return settings;
}

nn::Decoder start(const RewardSettings& settings) { return started_policy(settings, 1); }

TEST(RewardTuning, ArmsSeeTheSameRoundsUntilTheyLearn) {
    const auto settings = tiny();
    const auto policy = start(settings);
    const auto full = train_by_reward(settings, "full", 1, policy, {});
    ASSERT_EQ(full.reward.size(), 3U);
    EXPECT_THAT(full.kept, Each(1));
    EXPECT_THAT(full.reward, Contains(AllOf(Gt(0), Lt(1)))) << "nothing tells answers apart";
    for (const auto* arm : {"global", "layer"}) {
        const auto trained = train_by_reward(settings, arm, 1, policy, {});
        EXPECT_EQ(trained.reward.front(), full.reward.front()) << arm;
        EXPECT_EQ(trained.accuracy.front(), full.accuracy.front()) << arm;
        EXPECT_THAT(trained.kept, Each(AllOf(Ge(0), Le(1)))) << arm;
        EXPECT_THAT(trained.kept, Contains(Lt(1))) << arm << " left nothing out";
        EXPECT_GT(trained.drawn_tokens, full.drawn_tokens * 0.9) << arm;
    }
}

TEST(RewardTuning, TestQuestionsAreAskedForNothingElse) {
    auto settings = tiny();
    for (const auto* task : {"reverse", "close", "add"}) {
        settings.task = task;
        std::set<std::string> trained;
        for (const auto use : {Questions::start, Questions::round, Questions::target})
            for (const auto& asked : questions_for(settings, use, 1, 0, 500))
                trained.insert(asked.prompt);
        std::set<std::string> tested;
        for (const auto& asked : questions_for(settings, Questions::test, 1, 0, 256)) {
            EXPECT_FALSE(trained.contains(asked.prompt)) << asked.prompt;
            tested.insert(asked.prompt);
        }
        EXPECT_GT(tested.size(), 64U) << task;  // they differ
    }
}

TEST(RewardTuning, EarlyIsTheRoundThatItSays) {
    EXPECT_EQ(early_round(80), 12);  // the paper's
    EXPECT_EQ(early_round(50), 8);
    EXPECT_EQ(early_round(1), 1);
    auto settings = tiny();
    settings.evaluate_every = 3;
    const auto trained = train_by_reward(settings, "full", 1, start(settings), {});
    EXPECT_EQ(trained.at_round, (std::vector<double>{0, 1, 3}));
    EXPECT_EQ(trained.early_accuracy, trained.accuracy[1]);
}

TEST(RewardTuning, IsAFunctionOfItsArguments) {
    const auto settings = tiny();
    const auto policy = start(settings);
    const auto once = train_by_reward(settings, "layer", 2, policy, {});
    const auto again = train_by_reward(settings, "layer", 2, policy, {});
    EXPECT_EQ(once.reward, again.reward);
    EXPECT_EQ(once.kept, again.kept);
    EXPECT_EQ(once.accuracy, again.accuracy);
}

TEST(RewardTuning, RefusesWhatThereIsNot) {
    const auto settings = tiny();
    EXPECT_THROW(train_by_reward(settings, "target", 1, start(settings), {}),
                 std::invalid_argument);
    SampleSpec spec;
    spec.axes = {{"model", "gpt"}};
    EXPECT_THROW(reward_settings(spec), UserError);
    spec.axes = {{"rounds", std::int64_t{0}}};
    EXPECT_THROW(reward_settings(spec), UserError);
}

}  // namespace
}  // namespace assay::dr_post_training
