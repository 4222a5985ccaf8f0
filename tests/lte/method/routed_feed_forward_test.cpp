#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <cmath>

#include "impls/lte/method/loss_schedule.hpp"
#include "impls/lte/method/routed_feed_forward.hpp"
#include "suite/base/error.hpp"

namespace assay::lte {
namespace {

constexpr std::int64_t width = 6, neurons = 12, tokens = 5;
constexpr int expert_size = 4;
constexpr double tau = 0.5;

nn::DecoderConfig config(int layers = 1) {
    nn::DecoderConfig c;
    c.layers = layers;
    c.width = width;
    c.hidden = neurons;
    return c;
}

at::Tensor normal(at::IntArrayRef shape, std::uint64_t seed) {
    return at::normal(0.0, 0.7, shape, at::make_generator<at::CPUGeneratorImpl>(seed),
                      at::TensorOptions().dtype(at::kDouble));
}

nn::FfnWeights swiglu() {
    return {normal({neurons, width}, 1),
            normal({neurons, width}, 2),
            normal({width, neurons}, 3),
            {},
            {},
            nn::Activation::swiglu};
}

nn::FfnWeights gelu() {
    auto weights = swiglu();
    weights.gate.reset();
    weights.up_bias = normal({neurons}, 4);
    weights.down_bias = normal({width}, 5);
    weights.activation = nn::Activation::gelu;
    return weights;
}

double largest_difference(const at::Tensor& a, const at::Tensor& b) {
    return (a - b).abs().max().item<double>();
}

// Routers whose scores are those of sigmoid(logit) whatever the input.
Routers constant_routers(double logit) {
    Routers routers(config(), {.expert_size = expert_size, .init_scale = 0, .bias = logit});
    return routers;
}

at::Tensor by_neuron(const at::Tensor& by_expert) {
    return by_expert.repeat_interleave(expert_size, 1);
}

TEST(LteFeedForward, SoftWithFullScoresIsTheDenseNetwork) {
    const auto x = normal({tokens, width}, 9);
    for (const auto& weights : {swiglu(), gelu()}) {
        const auto routers = constant_routers(40);
        LteFeedForward ffn(routers, tau, LteMode::soft);
        const auto dense = nn::DenseFeedForward().run(0, x, weights);
        EXPECT_LT(largest_difference(ffn.run(0, x, weights), dense), 1e-12);
    }
}

TEST(LteFeedForward, HardTakesExpertsAboveTheThresholdWhole) {
    const auto x = normal({tokens, width}, 9);
    const Routers routers(config(), {.expert_size = expert_size, .init_scale = 3});
    const auto scores = routers.scores(0, x);
    const auto mask = by_neuron((scores > tau).to(at::kDouble));
    ASSERT_GT(mask.sum().item<double>(), 0);
    ASSERT_LT(mask.mean().item<double>(), 1);
    for (const auto& weights : {swiglu(), gelu()}) {
        LteFeedForward ffn(routers, tau, LteMode::hard);
        const auto expected = nn::ffn_output(weights, nn::ffn_hidden(weights, x) * mask);
        EXPECT_LT(largest_difference(ffn.run(0, x, weights), expected), 1e-12);
        EXPECT_EQ(largest_difference(ffn.scores()[0], scores), 0);
    }
}

TEST(LteFeedForward, HardWithNothingActiveLeavesTheBias) {
    const auto x = normal({tokens, width}, 9);
    const auto routers = constant_routers(-1);
    LteFeedForward ffn(routers, tau, LteMode::hard);
    EXPECT_EQ(ffn.run(0, x, swiglu()).abs().max().item<double>(), 0);
    const auto weights = gelu();
    EXPECT_EQ(largest_difference(ffn.run(0, x, weights), weights.down_bias.expand({tokens, width})),
              0);
}

TEST(LteFeedForward, HardPassesNoGradientToTheRouter) {
    const auto x = normal({tokens, width}, 9).requires_grad_(true);
    Routers routers(config(), {.expert_size = expert_size, .init_scale = 3});
    const auto weights = swiglu();
    LteFeedForward ffn(routers, tau, LteMode::hard);
    ffn.run(0, x, weights).sum().backward();
    EXPECT_EQ(routers.blocks()[0]->grad().abs().sum().item<double>(), 0);
    EXPECT_FALSE(ffn.scores()[0].requires_grad());
    // What reaches x is what passes through the masked network alone.
    const auto again = x.detach().clone().requires_grad_(true);
    const auto mask = by_neuron((routers.scores(0, again).detach() > tau).to(at::kDouble));
    nn::ffn_output(weights, nn::ffn_hidden(weights, again) * mask).sum().backward();
    EXPECT_LT(largest_difference(x.grad(), again.grad()), 1e-12);
}

TEST(LteFeedForward, ScoresDoNotDependOnTheTypeOfTheProducts) {
    const Routers routers(config(), {.expert_size = expert_size});
    const auto x = normal({tokens, width}, 9).to(at::kBFloat16);
    EXPECT_EQ(routers.scores(0, x).scalar_type(), at::kFloat);
    EXPECT_EQ(largest_difference(routers.scores(0, x), routers.scores(0, x.to(at::kFloat))), 0);
}

TEST(Routers, AreUniformSeededAndBiasedOnDemand) {
    nn::DecoderConfig c = config(2);
    c.width = 400;
    c.hidden = 128;
    const Routers plain(c, {.seed = 3}), same(c, {.seed = 3}), other(c, {.seed = 4});
    ASSERT_EQ(plain.blocks().size(), 2U);
    EXPECT_EQ(plain.blocks()[0]->count(), 4 * 400);
    EXPECT_EQ(plain.blocks()[1]->digest(), same.blocks()[1]->digest());
    EXPECT_NE(plain.blocks()[1]->digest(), other.blocks()[1]->digest());
    EXPECT_NE(plain.blocks()[0]->digest(), plain.blocks()[1]->digest());
    const auto& weight = (*plain.blocks()[0])[0];
    EXPECT_LE(weight.abs().max().item<double>(), 1 / std::sqrt(400.0));
    EXPECT_NEAR(weight.square().mean().item<double>(), 1 / 400.0 / 3, 0.1 / 400 / 3);

    const Routers biased(c, {.bias = 1.5, .seed = 3});
    EXPECT_EQ(biased.blocks()[0]->count(), 4 * 400 + 4);
    const auto nothing = at::zeros({1, 400});
    EXPECT_NEAR(biased.scores(1, nothing)[0][2].item<double>(), 1 / (1 + std::exp(-1.5)), 1e-6);
    EXPECT_THROW(Routers(c, {.expert_size = 48}), UserError);
}

// The loss of stage 1 on one layer, its task part linear in the output.
struct StageOneLoss {
    nn::FfnWeights weights = gelu();
    at::Tensor pull = normal({tokens, width}, 21);  // dL/d output
    double eta = 0.7, lambda = 0.5, eps = 0.02;

    at::Tensor operator()(const Routers& routers, const at::Tensor& x) const {
        LteFeedForward ffn(routers, tau, LteMode::soft);
        const auto task = (ffn.run(0, x, weights) * pull).sum();
        return task + eta * efficiency_loss(ffn.scores()[0]) +
               lambda * separability_loss(ffn.scores()[0], tau, eps);
    }
};

// Section 3.5 of the specification, written out.
TEST(StageOneGradient, AgreesWithTheClosedForm) {
    const StageOneLoss loss;
    Routers routers(config(), {.expert_size = expert_size, .init_scale = 2});
    const auto x = normal({tokens, width}, 9).requires_grad_(true);
    loss(routers, x).backward();

    const auto z = x.detach().clone().requires_grad_(true);
    const auto scores = routers.scores(0, z.detach()).detach();
    const auto& router = (*routers.blocks()[0])[0].detach().to(at::kDouble);
    const auto h = nn::ffn_hidden(loss.weights, z);
    const auto pull_hidden = at::matmul(loss.pull, loss.weights.down);  // dL/dh'
    const auto s = (pull_hidden * h.detach()).view({tokens, -1, expert_size}).sum(-1);
    const auto off = scores - tau;
    const auto pull_scores =
        s + (2 * loss.eta * scores - 2 * loss.lambda * off / (off.square() + loss.eps).square()) /
                static_cast<double>(scores.numel());
    const auto pull_logits = pull_scores * scores * (1 - scores);
    const auto expected_router = at::matmul(pull_logits.t(), z.detach());
    h.backward(pull_hidden * by_neuron(scores));
    const auto expected_x = z.grad() + at::matmul(pull_logits, router);

    const auto& found = routers.blocks()[0]->grad().view(expected_router.sizes());
    EXPECT_LT(largest_difference(found.to(at::kDouble), expected_router), 1e-5);  // kept in fp32
    EXPECT_LT(largest_difference(x.grad(), expected_x), 1e-12);
}

nn::DecoderConfig small_decoder(nn::Family family) {
    auto c = config();
    c.family = family;
    c.activation = family == nn::Family::gpt2 ? nn::Activation::gelu : nn::Activation::swiglu;
    c.width = c.head_width = 8;
    c.heads = c.kv_heads = 1;
    c.context = 16;
    return c;
}

TEST(Routers, BeforeTheGainSeeTheSameWhateverItIs) {
    for (const auto family : {nn::Family::llama, nn::Family::gpt2}) {
        const nn::Decoder decoder(small_decoder(family), 1);
        const Routers plain(decoder.config(), {.expert_size = expert_size});
        const Routers before(decoder, {.expert_size = expert_size, .before_gain = true});
        auto gain = decoder.parameter("layer0/ffn_norm").detach();
        const auto normalised = normal({tokens, 8}, 9).to(at::kFloat);
        auto x = normalised;
        gain.copy_(normal({8}, 4) / 5);
        gain[3].zero_();  // what such a channel carried is lost
        x = x * gain;
        auto kept = at::ones({8});
        kept[3].zero_();
        if (family == nn::Family::gpt2) {
            auto shift = decoder.parameter("layer0/ffn_norm_bias").detach();
            shift.copy_(normal({8}, 5));
            x = x + shift;
        }
        EXPECT_LT(largest_difference(before.scores(0, x), plain.scores(0, normalised * kept)),
                  1e-6);
        EXPECT_GT(largest_difference(before.scores(0, x), plain.scores(0, x)), 1e-3);
    }
}

TEST(Routers, BeforeTheGainSendItNoGradient) {
    const nn::Decoder decoder(small_decoder(nn::Family::llama), 1);
    const Routers routers(decoder, {.expert_size = expert_size, .before_gain = true});
    const auto& gain = decoder.parameter("layer0/ffn_norm");
    gain.detach().fill_(0.25);
    const auto normalised = normal({tokens, 8}, 9).to(at::kFloat);
    routers.scores(0, normalised * gain).square().sum().backward();
    EXPECT_LT(gain.grad().abs().max().item<double>(), 1e-6);
    EXPECT_GT(routers.blocks()[0]->grad().abs().max().item<double>(), 1e-3);
}

TEST(LteFeedForward, DetachedScoresAreTheSameNumbersAndMoveTheRoutersAlone) {
    const auto x = normal({tokens, width}, 9).requires_grad_(true);
    const Routers routers(config(), {.expert_size = expert_size, .init_scale = 3});
    LteFeedForward ffn(routers, tau, LteMode::soft, /*keep_detached=*/true);
    ffn.run(0, x, swiglu());
    ASSERT_EQ(ffn.detached_scores().size(), 1U);
    EXPECT_TRUE(ffn.detached_scores()[0].equal(ffn.scores()[0]));
    separability_loss(ffn.detached_scores()[0], tau, 0.01).backward();
    EXPECT_FALSE(x.grad().defined());
    EXPECT_GT(routers.blocks()[0]->grad().abs().max().item<double>(), 0);
}

TEST(StageOneGradient, AgreesWithFiniteDifferences) {
    const StageOneLoss loss;
    Routers routers(config(), {.expert_size = expert_size, .init_scale = 2});
    const auto x = normal({tokens, width}, 9).requires_grad_(true);
    loss(routers, x).backward();
    at::NoGradGuard no_grad;
    const auto check = [&](const at::Tensor& flat, const at::Tensor& gradient, double step,
                           double tolerance) {
        for (std::int64_t i = 0; i < flat.numel(); ++i) {
            const auto kept = flat[i].clone();
            const auto at_offset = [&](double offset) {
                flat[i].copy_(kept + offset);
                return std::pair{flat[i].item<double>(), loss(routers, x).item<double>()};
            };
            const auto [low, below] = at_offset(-step);
            const auto [high, above] = at_offset(step);
            flat[i].copy_(kept);
            EXPECT_NEAR((above - below) / (high - low), gradient[i].item<double>(), tolerance) << i;
        }
    };
    check(x.view({-1}), x.grad().view({-1}), 1e-5, 1e-6);
    check(routers.blocks()[0]->values(), routers.blocks()[0]->grad(), 1e-4, 1e-4);
}

}  // namespace
}  // namespace assay::lte
