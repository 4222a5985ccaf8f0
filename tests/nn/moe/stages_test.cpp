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
    SmallMoe(int top_k, at::ScalarType dtype, MoeShape shape = MoeShape::gpt,
             double capacity_factor = 0)
        : config{.layers = 3,
                 .width = 16,
                 .heads = 4,
                 .experts = 5,
                 .top_k = top_k,
                 .hidden = 24,
                 .context = 7,
                 .dtype = dtype,
                 .shape = shape,
                 .kv_heads = 2,
                 .capacity_factor = capacity_factor},
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

class MoeStages : public testing::TestWithParam<std::tuple<int, at::ScalarType, MoeShape, double>> {
};

TEST_P(MoeStages, CutApartTheyAreTheWholeBitForBit) {
    at::manual_seed(1);
    const auto& [top_k, dtype, shape, capacity_factor] = GetParam();
    SmallMoe moe(top_k, dtype, shape, capacity_factor);
    LocalExperts experts(moe.held, shape);
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
                                          testing::Values(at::kFloat, at::kDouble),
                                          testing::Values(MoeShape::gpt, MoeShape::mixtral),
                                          testing::Values(0.0, 1.0)));

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

// Two experts with room for two of each sequence's four tokens: first choices go before second
// ones, wherever their tokens are, and sequences do not take each other's room.
TEST(MoeGates, RoomGoesToFirstChoicesThenInTheOrderOfTokens) {
    const auto chosen = at::tensor(std::vector<std::int64_t>{0, 1, 0, 1, 0, 1, 1, 0,  // one …
                                                             1, 0, 1, 0, 0, 1, 0, 1},
                                   at::kLong)
                            .view({8, 2});
    const auto kept = with_room(chosen, 4, 2, 2);
    // Expert 0: tokens 0 and 1 by first choice, 2 finds it full; expert 1: 3, then 0's second one.
    const auto wanted = at::tensor(std::vector<std::int64_t>{1, 1, 1, 0, 0, 0, 1, 0,  //
                                                             1, 0, 1, 0, 1, 0, 1, 0},
                                   at::kLong)
                            .view({8, 2});
    EXPECT_TRUE(at::equal(kept.to(at::kLong), wanted)) << kept;
}

// What is dropped adds nothing to its token, and the rest keeps its share.
TEST(MoeGates, WithFixedCapacityExpertsTakeSoManyAndNoMore) {
    at::manual_seed(1);
    SmallMoe moe(2, at::kDouble, MoeShape::gpt, 1.0);
    EXPECT_EQ(capacity_of(moe.config), 3);  // ⌈2 · 7 / 5⌉
    const auto x = moe_embed(moe.config, moe.dense, moe.tokens);
    const auto routed = moe_attend(moe.config, moe.dense, 0, x);
    auto dropless = moe.config;
    dropless.capacity_factor = 0;
    const auto free = moe_attend(dropless, moe.dense, 0, x);
    EXPECT_TRUE(at::equal(routed.chosen, free.chosen));
    EXPECT_TRUE(at::equal(routed.weights, free.weights * routed.kept));
    const auto dropped = (routed.kept == 0).sum().item<std::int64_t>();
    EXPECT_GT(dropped, 0);
    EXPECT_LT(dropped, routed.kept.numel());
    for (int sequence = 0; sequence < 3; ++sequence)
        for (int expert = 0; expert < moe.config.experts; ++expert) {
            const auto of_sequence = [&](const at::Tensor& all) {
                return all.narrow(0, sequence * 7, 7);
            };
            EXPECT_LE((of_sequence(routed.chosen == expert) * of_sequence(routed.kept))
                          .sum()
                          .item<std::int64_t>(),
                      3);
        }
}

// The decoder's attention is tested where it is; here: a position sees itself and those before.
TEST(MoeShapes, MixtralIsCausalAndHasItsParameters) {
    at::manual_seed(1);
    SmallMoe moe(2, at::kDouble, MoeShape::mixtral);
    const auto parameters = dense_parameters(moe.config);
    EXPECT_EQ(parameters[1].name, "output_head");
    EXPECT_EQ(parameters[4].shape, (std::vector<std::int64_t>{(4 + 2 * 2) * 4, 16}));
    EXPECT_EQ(expert_parameters(moe.config).size(), 3u);
    const auto rows = [&](const at::Tensor& tokens) {
        return moe_attend(moe.config, moe.dense, 0, moe_embed(moe.config, moe.dense, tokens))
            .residual.detach();
    };
    auto changed = moe.tokens.clone();
    changed.select(1, 4).add_(1).remainder_(256);
    const auto before = rows(moe.tokens), after = rows(changed);
    EXPECT_TRUE(at::equal(before.narrow(1, 0, 4), after.narrow(1, 0, 4)));
    for (int position = 4; position < 7; ++position)
        EXPECT_FALSE(at::allclose(before.select(1, position), after.select(1, position)));
}

// Queries share keys and values in Mixtral's shape.
TEST(MoeShapes, EveryKindOfAttentionIsTheSame) {
    for (const MoeShape shape : {MoeShape::gpt, MoeShape::mixtral}) {
        at::manual_seed(1);
        SmallMoe moe(2, at::kFloat, shape);
        ASSERT_LT(moe.config.kv_heads, moe.config.heads);
        const at::NoGradGuard no_grad;
        const auto x = at::randn({3, moe.config.context, moe.config.width});
        const auto residual = [&](Attention kind) {
            return moe_attend(moe.config, moe.dense, 1, x, {}, kind).residual;
        };
        const auto written_out = residual(Attention::written_out);
        EXPECT_GT((written_out - x).abs().max().item<double>(), 1e-3);
        for (const Attention kind : {Attention::materialised, Attention::fused})
            EXPECT_LT((residual(kind) - written_out).abs().max().item<double>(), 1e-5)
                << "shape " << static_cast<int>(shape) << ", kind " << static_cast<int>(kind);
    }
}

// Experts, gates and what is before them, at a few elements each.
class MoeGradients : public testing::TestWithParam<MoeShape> {};
INSTANTIATE_TEST_SUITE_P(Shapes, MoeGradients, testing::Values(MoeShape::gpt, MoeShape::mixtral));

TEST_P(MoeGradients, OfTwoExpertsPerTokenAreRight) {
    at::manual_seed(1);
    SmallMoe moe(2, at::kDouble, GetParam());
    LocalExperts experts(moe.held, GetParam());
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
