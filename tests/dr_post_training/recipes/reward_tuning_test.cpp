// Training by reward on a policy so small that rounds take moments.
#include "impls/dr_post_training/recipes/reward_tuning.hpp"

#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "suite/base/error.hpp"

namespace assay::dr_post_training {
namespace {

using testing::AllOf;
using testing::Each;
using testing::Ge;
using testing::Le;

RewardSettings tiny() {
    at::set_num_threads(1);
    SampleSpec spec;
    spec.axes = {{"model", "llama-tiny"}, {"task", "close"}, {"rounds", std::int64_t{3}}};
    return reward_settings(spec);
}

nn::Decoder start(const RewardSettings& settings) {
    nn::NoState nothing;
    return started_policy(settings, 1, nothing);
}

TEST(RewardTuning, ArmsSeeTheSameRoundsUntilTheyLearn) {
    const auto settings = tiny();
    const auto policy = start(settings);
    const auto full = train_by_reward(settings, "full", 1, policy, {});
    ASSERT_EQ(full.reward.size(), 3U);
    EXPECT_THAT(full.kept, Each(1));
    for (const auto* arm : {"global", "layer"}) {
        const auto trained = train_by_reward(settings, arm, 1, policy, {});
        EXPECT_EQ(trained.reward.front(), full.reward.front()) << arm;
        EXPECT_EQ(trained.accuracy.front(), full.accuracy.front()) << arm;
        EXPECT_THAT(trained.kept, Each(AllOf(Ge(0), Le(1)))) << arm;
        EXPECT_GT(trained.drawn_tokens, full.drawn_tokens * 0.9) << arm;
    }
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
