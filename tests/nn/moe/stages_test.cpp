// The stages of the mixture of experts against the whole, and its gates with several experts.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "impls/nn/moe/stages.hpp"

namespace assay::nn {
namespace {

class SmallMoe {
  public:
    SmallMoe(int top_k, at::ScalarType dtype)
        : config{.layers = 3,
                 .width = 16,
                 .heads = 2,
                 .experts = 5,
                 .top_k = top_k,
                 .hidden = 24,
                 .context = 7,
                 .dtype = dtype},
          dense("dense", dense_parameters(config), dtype, 1) {
        // Far from the initial values, so that experts and gates matter.
        dense.values().mul_(5);
        for (int layer = 0; layer < config.layers; ++layer) {
            held.emplace_back();
            for (int e = 0; e < config.experts; ++e) {
                const auto name = "layer" + std::to_string(layer) + "/expert" + std::to_string(e);
                blocks.push_back(
                    std::make_unique<ParameterBlock>(name, expert_parameters(config), dtype, 1));
                blocks.back()->values().mul_(20);
                held.back().push_back(blocks.back().get());
            }
        }
        tokens = at::randint(0, 256, {3, config.context + 1}, at::kLong);
    }

    std::vector<at::Tensor> gradients() {
        std::vector<at::Tensor> all{dense.grad().clone()};
        for (const auto& block : blocks) all.push_back(block->grad().clone());
        dense.zero_grad();
        for (const auto& block : blocks) block->zero_grad();
        return all;
    }

    MoeGptConfig config;
    ParameterBlock dense;
    std::vector<std::unique_ptr<ParameterBlock>> blocks;
    std::vector<std::vector<const ParameterBlock*>> held;
    at::Tensor tokens;
};

at::Tensor leaf(const at::Tensor& tensor) { return tensor.detach().requires_grad_(true); }

// Every stage a graph of its own, connected by hand.
double cut_everywhere(SmallMoe& moe, LocalExperts& experts) {
    const auto& config = moe.config;
    struct Layer {
        at::Tensor x, expert_rows, expert_in, expert_out, residual, weights, outputs, mixed;
        Routed routed;
    };
    std::vector<Layer> layers;
    const auto embedded = moe_embed(config, moe.dense, moe.tokens);
    at::Tensor before = embedded;
    for (int l = 0; l < config.layers; ++l) {
        Layer layer;
        layer.x = leaf(before);
        layer.routed = moe_attend(config, moe.dense, l, layer.x);
        layer.expert_rows = moe_expert_rows(config, layer.routed);
        layer.expert_in = leaf(layer.expert_rows);
        const auto& chosen = layer.routed.chosen;
        layer.expert_out = experts.run(l, layer.expert_in,
                                       {chosen.const_data_ptr<std::int64_t>(),
                                        chosen.const_data_ptr<std::int64_t>() + chosen.numel()});
        layer.residual = leaf(layer.routed.residual);
        layer.weights = leaf(layer.routed.weights);
        layer.outputs = leaf(layer.expert_out);
        layer.mixed = moe_combine(config, layer.residual, layer.weights, layer.outputs);
        before = layer.mixed;
        layers.push_back(std::move(layer));
    }
    const auto last = leaf(before);
    const auto loss = moe_head(config, moe.dense, last, moe.tokens);
    loss.backward();
    auto gradient = last.grad();
    for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
        torch::autograd::backward({layer->mixed}, {gradient});
        torch::autograd::backward({layer->expert_out}, {layer->outputs.grad()});
        torch::autograd::backward(
            {layer->routed.residual, layer->routed.weights, layer->expert_rows},
            {layer->residual.grad(), layer->weights.grad(), layer->expert_in.grad()});
        gradient = layer->x.grad();
    }
    torch::autograd::backward({embedded}, {gradient});
    return loss.item<double>();
}

class MoeStages : public testing::TestWithParam<std::tuple<int, at::ScalarType>> {};

TEST_P(MoeStages, CutApartTheyAreTheWholeBitForBit) {
    at::manual_seed(1);
    SmallMoe moe(std::get<0>(GetParam()), std::get<1>(GetParam()));
    LocalExperts experts(moe.held);
    const auto loss = moe_gpt_loss(moe.config, moe.dense, experts, moe.tokens);
    loss.backward();
    const auto whole = moe.gradients();
    EXPECT_EQ(cut_everywhere(moe, experts), loss.item<double>());
    const auto stages = moe.gradients();
    for (std::size_t i = 0; i < whole.size(); ++i)
        EXPECT_TRUE(at::equal(whole[i], stages[i])) << "block " << i;
    EXPECT_GT(whole[0].abs().max().item<double>(), 0);
}

INSTANTIATE_TEST_SUITE_P(TopK, MoeStages,
                         testing::Combine(testing::Values(1, 2, 3),
                                          testing::Values(at::kFloat, at::kDouble)));

TEST(MoeGates, OneChoiceKeepsItsProbabilitySeveralShareOne) {
    at::manual_seed(1);
    for (const int top_k : {1, 2, 4}) {
        SmallMoe moe(top_k, at::kDouble);
        const auto x = moe_embed(moe.config, moe.dense, moe.tokens);
        const auto routed = moe_attend(moe.config, moe.dense, 0, x);
        ASSERT_EQ(routed.chosen.sizes(), at::IntArrayRef({21, top_k}));
        const auto sums = routed.weights.sum(1);
        if (top_k == 1)
            EXPECT_TRUE(at::equal(sums, std::get<0>(routed.probabilities.max(1))));
        else
            EXPECT_TRUE(at::allclose(sums, at::ones_like(sums)));
        // The most probable ones, each once.
        const auto least_chosen =
            std::get<0>(routed.probabilities.gather(1, routed.chosen).min(1, /*keepdim=*/true));
        EXPECT_TRUE(at::equal((routed.probabilities >= least_chosen).sum(1),
                              at::full({21}, top_k, at::kLong)));
    }
}

// Experts, gates and what is before them, at a few elements each.
TEST(MoeGates, GradientsOfTwoExpertsPerTokenAreRight) {
    at::manual_seed(1);
    SmallMoe moe(2, at::kDouble);
    LocalExperts experts(moe.held);
    // Held fixed: a choice that flips is no gradient.
    GateTrace trace;
    moe_gpt_loss(moe.config, moe.dense, experts, moe.tokens, &trace).backward();
    const auto gradients = moe.gradients();
    const auto loss = [&] {
        const at::NoGradGuard no_grad;
        return moe_gpt_loss(moe.config, moe.dense, experts, moe.tokens, nullptr,
                            [&](int layer, std::int64_t) {
                                return trace.choice[static_cast<std::size_t>(layer)];
                            })
            .item<double>();
    };
    std::vector<ParameterBlock*> all{&moe.dense};
    for (const auto& block : moe.blocks) all.push_back(block.get());
    for (std::size_t b = 0; b < all.size(); ++b) {
        auto& values = all[b]->values();
        for (std::int64_t i = 3; i < values.numel(); i += values.numel() / 7) {
            const double at_rest = values[i].item<double>(), step = 1e-5;
            values[i] = at_rest + step;
            const double above = loss();
            values[i] = at_rest - step;
            const double below = loss();
            values[i] = at_rest;
            const double expected = gradients[b][i].item<double>();
            EXPECT_NEAR((above - below) / (2 * step), expected, 1e-5 * (1 + std::abs(expected)))
                << all[b]->name() << " element " << i;
        }
    }
}

}  // namespace
}  // namespace assay::nn
