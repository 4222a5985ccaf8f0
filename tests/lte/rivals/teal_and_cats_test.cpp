// TEAL and CATS: thresholds from calibration text, sparsity counted on other text.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "impls/lte/rivals/teal_and_cats.hpp"
#include "impls/nn/training/language_model.hpp"
#include "tests/lte/rivals/small_models.hpp"

namespace assay::lte {
namespace {

TEST(MagnitudeThreshold, LeavesTheShareBelow) {
    const auto values = at::randn({40, 25});
    for (const double share : {0.001, 0.1, 0.5, 0.9, 1.0}) {
        const double t = magnitude_threshold(values, share);
        EXPECT_EQ((values.abs() <= t).sum().item<std::int64_t>(), std::llround(share * 1000));
    }
    EXPECT_LT(magnitude_threshold(values, 0), 0);
    // Signs do not matter, equal values go together.
    EXPECT_EQ(magnitude_threshold(at::tensor({-1.0F, 2.0F, -2.0F, 3.0F}), 0.5), 2);
}

class Thresholds : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Shapes, Thresholds, testing::Values("gpt-tiny", "llama-tiny"));

TEST_P(Thresholds, ReachTheSparsityOnTextNotSeen) {
    const auto decoder = trained_decoder(GetParam(), 60);
    for (const double sparsity : {0.25, 0.5, 0.75}) {
        Teal teal(decoder, short_text(), sparsity);
        nn::evaluate(decoder, teal, short_text(), 16);
        EXPECT_NEAR(teal.measured_sparsity(), sparsity, 0.05);
        for (const double layer : teal.layer_sparsity()) EXPECT_NEAR(layer, sparsity, 0.05);

        const auto method = std::make_unique<Cats>(decoder, short_text(), sparsity);
        logits(decoder, *method);
        for (const auto& used : method->active())
            EXPECT_NEAR(1 - used.to(at::kDouble).mean().item<double>(), sparsity, 0.05);
    }
}

TEST_P(Thresholds, NoSparsityIsTheDenseModel) {
    const auto decoder = lively_decoder(GetParam());
    nn::DenseFeedForward dense;
    Teal teal(decoder, short_text(), 0);
    EXPECT_EQ(teal.measured_sparsity(), 0);  // calibration is not counted
    EXPECT_TRUE(at::equal(logits(decoder, teal), logits(decoder, dense)));
    EXPECT_EQ(teal.measured_sparsity(), 0);
    const auto method = std::make_unique<Cats>(decoder, short_text(), 0);
    EXPECT_TRUE(at::equal(logits(decoder, *method), logits(decoder, dense)));
}

TEST_P(Thresholds, TealCountsTheWeightsOfZeroedInputs) {
    const auto decoder = lively_decoder(GetParam());
    Teal teal(decoder, short_text(), 0.5);
    const auto weights = decoder.ffn(0);
    const auto d = weights.up.size(1);
    // Inputs of zero are below any threshold: no row of gate, up or down is read without a bias.
    const at::NoGradGuard no_grad;
    auto plain = weights;
    plain.up_bias = at::Tensor();
    teal.run(0, at::zeros({3, d}), plain);
    EXPECT_EQ(teal.layer_sparsity()[0], 1);
    EXPECT_EQ(teal.layer_sparsity()[1], 0);
    EXPECT_EQ(teal.measured_sparsity(), 1);
}

TEST_P(Thresholds, CatsLeavesOutTheSmallestGates) {
    const auto decoder = lively_decoder(GetParam());
    const auto method = std::make_unique<Cats>(decoder, short_text(), 0.6);
    Onlooker compare([&](int layer, const at::Tensor& x, const nn::FfnWeights& weights) {
        method->run(layer, x, weights);
        const auto& used = method->active()[static_cast<std::size_t>(layer)];
        const auto gate = (weights.gate.defined() ? at::silu(at::matmul(x, weights.gate.t()))
                                                  : nn::ffn_hidden(weights, x))
                              .abs();
        EXPECT_GT(gate.masked_select(used).min().item<float>(),
                  gate.masked_select(~used).max().item<float>() - 1e-6);
    });
    logits(decoder, compare);
}

}  // namespace
}  // namespace assay::lte
