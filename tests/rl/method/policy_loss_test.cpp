#include "impls/rl/method/policy_loss.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

namespace assay::rl {
namespace {

at::Tensor row(std::vector<double> values) {
    return at::tensor(values).to(at::kFloat).view({1, -1});
}

at::Tensor gradient(const at::Tensor& losses, const at::Tensor& of) {
    return torch::autograd::grad({losses.sum()}, {of})[0];
}

TEST(ClippedLosses, OnPolicyTheGradientIsReinforce) {
    const auto now = row({-0.5, -2, -0.1}).requires_grad_();
    const auto advantages = row({1.5, -0.5, 0});
    const auto losses = clipped_losses(now, now.detach(), advantages);
    EXPECT_TRUE(at::equal(gradient(losses, now), -advantages));
}

TEST(ClippedLosses, StopWhereTheRatioHasGoneFarEnough) {
    // Ratios 1.5, 0.5, 1.5, 0.5 with advantages +, +, −, −.
    const auto drawn_with = row({-1, -1, -1, -1});
    const auto now =
        (drawn_with + at::tensor({1.5F, 0.5F, 1.5F, 0.5F}).log()).detach().requires_grad_();
    const auto advantages = row({1, 1, -1, -1});
    const auto losses = clipped_losses(now, drawn_with, advantages, {0.2, 0.3});
    EXPECT_TRUE(at::allclose(losses, row({-1.3, -0.5, 1.5, 0.8})));
    EXPECT_TRUE(at::allclose(gradient(losses, now), row({0, -0.5, 1.5, 0})));
}

TEST(ClippedLosses, AnAdvantageOfAnAnswerIsThatOfItsTokens) {
    const auto now = at::rand({3, 4}), drawn_with = at::rand({3, 4});
    const auto one = at::tensor({1.0F, -2.0F, 0.5F}).view({3, 1});
    EXPECT_TRUE(at::equal(clipped_losses(now, drawn_with, one),
                          clipped_losses(now, drawn_with, one.expand({3, 4}))));
}

TEST(Divergences, AreTheMeanOfADivergenceAndNeverNegative) {
    const auto p = at::softmax(at::tensor({0.3F, -1.0F, 2.0F}), 0);
    const auto q = at::softmax(at::tensor({1.0F, 0.5F, 0.0F}), 0);
    const auto estimates = divergences(p.log(), q.log());
    EXPECT_GE(estimates.min().item<double>(), 0);
    EXPECT_NEAR((p * estimates).sum().item<double>(), (p * (p / q).log()).sum().item<double>(),
                1e-6);
    EXPECT_EQ(divergences(p.log(), p.log()).abs().max().item<double>(), 0);
}

TEST(ValueLosses, KeepTheCriticNearItsOldValues) {
    const auto values = row({1.0, 0.1}).requires_grad_();
    const auto losses = value_losses(values, row({0, 0}), row({2, 2}), 0.2);
    EXPECT_TRUE(at::allclose(losses, row({0.5 * 1.8 * 1.8, 0.5 * 1.9 * 1.9})));
    EXPECT_TRUE(at::allclose(gradient(losses, values), row({0, -1.9})));
}

TEST(AveragingWeights, AddUpToOne) {
    const auto answered =
        at::tensor({1, 1, 1, 0, /**/ 0, 1, 0, 0, /**/ 0, 0, 0, 0}).view({3, 4}).to(at::kBool);
    const auto by_token = averaging_weights(answered, Averaging::tokens);
    EXPECT_TRUE(at::allclose(by_token, answered.to(at::kFloat) / 4));
    const auto by_answer = averaging_weights(answered, Averaging::answers);
    EXPECT_NEAR(by_answer[0][0].item<double>(), 1.0 / 6, 1e-7);
    EXPECT_NEAR(by_answer[1][1].item<double>(), 0.5, 1e-7);
    EXPECT_NEAR(by_answer.sum().item<double>(), 1, 1e-6);
    const auto nothing = averaging_weights(at::zeros({2, 2}, at::kBool), Averaging::answers);
    EXPECT_EQ(nothing.sum().item<double>(), 0);
}

}  // namespace
}  // namespace assay::rl
