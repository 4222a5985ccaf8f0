// Autograd cut at every layer's experts: the same gradients as uncut, little kept between stages,
// and why a stage waits for the gradients of its rows.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "impls/hetermoe/training/cut_stages.hpp"
#include "tests/hetermoe/training/small_training.hpp"

namespace assay::hetermoe {
namespace {

class CutStagesTest : public testing::Test {
  protected:
    CutStagesTest() : state_(settings_.model, 3) {
        for (const auto& key : nn::all_blocks(model_.layers, model_.experts)) {
            state_.make_initial(key).values().mul_(8);  // experts and gates matter
            if (key != nn::dense_key)
                blocks_[static_cast<std::size_t>(key.first)].push_back(state_.find(key));
        }
        tokens_ = sheep().batch(1, 0, 0, 4, model_.context);
    }

    std::vector<std::int64_t> choices(const at::Tensor& chosen) {
        const auto flat = chosen.contiguous();
        const auto* data = flat.const_data_ptr<std::int64_t>();
        return {data, data + flat.numel()};
    }
    // A layer's experts, from 1, as an expert rank has them: forward without a graph …
    at::Tensor experts(int layer, const CutStages::ForExperts& to) {
        const at::NoGradGuard no_grad;
        return local_.run(layer - 1, to.rows, choices(to.chosen));
    }
    // … and again with one.
    at::Tensor experts_backward(int layer, const CutStages::ForExperts& to,
                                const at::Tensor& output_gradients) {
        const auto rows = to.rows.detach().requires_grad_(true);
        torch::autograd::backward({local_.run(layer - 1, rows, choices(to.chosen))},
                                  {output_gradients});
        return rows.grad();
    }
    std::vector<at::Tensor> take_gradients() {
        std::vector<at::Tensor> gradients;
        for (const auto& key : state_.keys()) gradients.push_back(state_.find(key)->grad().clone());
        state_.zero_gradients();
        return gradients;
    }
    std::vector<at::Tensor> uncut() {
        nn::moe_gpt_loss(model_, *state_.find(nn::dense_key), local_, tokens_).backward();
        return take_gradients();
    }

    TrainingSettings settings_ = small_training(at::kDouble);
    const nn::MoeGptConfig& model_ = settings_.model;
    nn::MoeState state_;
    std::vector<std::vector<const nn::ParameterBlock*>> blocks_{
        static_cast<std::size_t>(model_.layers)};
    at::Tensor tokens_;
    nn::LocalExperts local_{{}};
};

// One micro-batch through all stages and back.
TEST_F(CutStagesTest, GradientsAreThoseOfTheWhole) {
    local_ = nn::LocalExperts(blocks_);
    const auto wanted = uncut();
    CutStages stages(model_, *state_.find(nn::dense_key), tokens_);
    std::vector<CutStages::ForExperts> sent;
    at::Tensor outputs;
    for (int layer = 1; layer <= model_.layers; ++layer) {
        sent.push_back(stages.forward(layer, outputs));
        outputs = experts(layer, sent.back());
    }
    const double loss = stages.forward_last(outputs);
    EXPECT_NEAR(
        loss, nn::moe_gpt_loss(model_, *state_.find(nn::dense_key), local_, tokens_).item<double>(),
        1e-12 * loss);
    at::Tensor gradients = stages.backward_last(1);
    for (int layer = model_.layers; layer >= 1; --layer) {
        ASSERT_TRUE(gradients.defined());
        gradients = stages.backward(
            layer, experts_backward(layer, sent[static_cast<std::size_t>(layer - 1)], gradients));
    }
    EXPECT_FALSE(gradients.defined());
    const auto cut = take_gradients();
    for (std::size_t i = 0; i < wanted.size(); ++i)
        EXPECT_TRUE(at::allclose(cut[i], wanted[i], 1e-12, 1e-14)) << "block " << i;
    EXPECT_EQ(stages.kept_bytes(), 0);
}

// Between stages there is a residual, the experts' outputs, weights and choices, and nothing else.
TEST_F(CutStagesTest, KeepsBoundariesAlone) {
    local_ = nn::LocalExperts(blocks_);
    CutStages stages(model_, *state_.find(nn::dense_key), tokens_);
    const std::int64_t rows = 4 * model_.context, width = model_.width, k = model_.top_k;
    const std::int64_t boundary = rows * (width + k * width + k) * 8 + rows * k * 8;
    at::Tensor outputs;
    for (int layer = 1; layer <= model_.layers; ++layer) {
        const auto to = stages.forward(layer, outputs);
        EXPECT_FALSE(to.rows.requires_grad());
        outputs = experts(layer, to);
        EXPECT_EQ(stages.kept_bytes(), layer * boundary - rows * k * width * 8);
    }
}

// Branch b (residual and weights) is there before the experts' ranks have answered. Who goes back
// with it alone sends the experts below gradients that lack a part, and has to go back again.
TEST_F(CutStagesTest, WhoDoesNotWaitForTheRowsIsWrong) {
    local_ = nn::LocalExperts(blocks_);
    const auto gradients_of = [&](bool waits) {
        CutStages stages(model_, *state_.find(nn::dense_key), tokens_);
        std::vector<CutStages::ForExperts> sent;
        at::Tensor outputs;
        for (int layer = 1; layer <= model_.layers; ++layer) {
            sent.push_back(stages.forward(layer, outputs));
            outputs = experts(layer, sent.back());
        }
        stages.forward_last(outputs);
        at::Tensor gradients = stages.backward_last(1);
        for (int layer = model_.layers; layer >= 1; --layer) {
            const auto& to = sent[static_cast<std::size_t>(layer - 1)];
            const auto of_rows = experts_backward(layer, to, gradients);
            gradients = stages.backward(layer, waits ? of_rows : at::zeros_like(of_rows));
        }
        return take_gradients();
    };
    const auto wanted = uncut(), right = gradients_of(true), naive = gradients_of(false);
    // The experts of the last layer, whose gradients come from the last stage, are not affected …
    const auto block = [&](int layer) {
        return static_cast<std::size_t>(1 + (layer - 1) * model_.experts);
    };
    EXPECT_TRUE(at::allclose(naive[block(model_.layers)], wanted[block(model_.layers)]));
    // … those below and everything dense are.
    for (const std::size_t i : {std::size_t{0}, block(1), block(model_.layers - 1)}) {
        EXPECT_TRUE(at::allclose(right[i], wanted[i], 1e-12, 1e-14)) << "block " << i;
        EXPECT_GT((naive[i] - wanted[i]).norm().item<double>(),
                  0.01 * wanted[i].norm().item<double>())
            << "block " << i;
    }
}

// Going back a second time, once the rows' gradients are there, is what autograd refuses, and where
// the graph is kept for it, the weights' gradients that had arrived are counted twice.
TEST_F(CutStagesTest, GoingBackTwiceIsRefusedOrCountsTwice) {
    const auto& dense = *state_.find(nn::dense_key);
    const auto begin = [&] {
        auto x = nn::moe_embed(model_, dense, tokens_);
        return nn::moe_attend(model_, dense, 0, x);
    };
    auto routed = begin();
    const auto branch_b = at::ones_like(routed.residual), of_rows = at::ones_like(routed.rows);
    torch::autograd::backward({routed.residual}, {branch_b});
    EXPECT_ANY_THROW(torch::autograd::backward({routed.rows}, {of_rows}));
    take_gradients();
    routed = begin();
    torch::autograd::backward({routed.residual, routed.rows}, {branch_b, of_rows});
    const auto once = take_gradients();
    routed = begin();
    torch::autograd::backward({routed.residual}, {branch_b}, /*retain_graph=*/true);
    torch::autograd::backward({routed.residual, routed.rows}, {branch_b, of_rows});
    const auto twice = take_gradients();
    EXPECT_FALSE(at::allclose(once[0], twice[0], 1e-3));
}

}  // namespace
}  // namespace assay::hetermoe
