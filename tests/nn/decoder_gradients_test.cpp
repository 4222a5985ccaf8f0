// Gradients of the decoder's loss against finite differences, in double.
#include <gtest/gtest.h>

#include <string>

#include "tests/nn/small_decoders.hpp"

namespace assay::nn {
namespace {

double loss_at(const Decoder& decoder, const at::Tensor& tokens) {
    at::NoGradGuard no_grad;
    DenseFeedForward dense;
    return decoder.loss(tokens, dense, at::kDouble).item<double>();
}

// Every parameter of every block, at a few of its elements.
void expect_gradients_right(const DecoderConfig& config) {
    Decoder decoder(config, 3);
    enlarge(decoder);
    const auto tokens = random_ids(2, 6, config.vocabulary);
    DenseFeedForward dense;
    for (auto& block : decoder.blocks()) block->zero_grad();
    decoder.loss(tokens, dense, at::kDouble).backward();

    at::NoGradGuard no_grad;
    double largest = 0;
    for (auto& block : decoder.blocks()) {
        auto& values = block->values();
        const auto count = block->count();
        for (std::int64_t i = 0; i<count; i += count> 400 ? 7 : 3) {
            const float before = values[i].item<float>();
            const float above = before + 1e-4f, below = before - 1e-4f;
            values[i].fill_(above);
            const double upper = loss_at(decoder, tokens);
            values[i].fill_(below);
            const double lower = loss_at(decoder, tokens);
            values[i].fill_(before);
            const double expected =
                (upper - lower) / (static_cast<double>(above) - static_cast<double>(below));
            const double found = block->grad()[i].item<double>();
            largest = std::max(largest, std::abs(found));
            ASSERT_NEAR(found, expected, 1e-5 * (1 + std::abs(expected)))
                << block->name() << " element " << i;
        }
    }
    EXPECT_GT(largest, 0.1);  // else nothing was compared
}

TEST(DecoderGradients, OfTheLlamaShape) { expect_gradients_right(small_llama()); }

TEST(DecoderGradients, OfTheQwen2Shape) { expect_gradients_right(small_qwen2()); }

TEST(DecoderGradients, OfTheQwen3Shape) { expect_gradients_right(small_qwen3()); }

TEST(DecoderGradients, OfTheGpt2Shape) { expect_gradients_right(small_gpt2()); }

TEST(DecoderGradients, OfReluAndAnOutputOfItsOwn) {
    auto config = small_llama();
    config.activation = Activation::relu;
    config.tied_embeddings = false;
    expect_gradients_right(config);
}

TEST(DecoderGradients, InFloatAreThoseInDouble) {
    for (const auto& config : {small_llama(), small_gpt2()}) {
        Decoder decoder(config, 3);
        enlarge(decoder);
        const auto tokens = random_ids(2, 6, config.vocabulary);
        DenseFeedForward dense;
        std::vector<at::Tensor> exact;
        for (auto compute : {at::kDouble, at::kFloat}) {
            for (auto& block : decoder.blocks()) block->zero_grad();
            decoder.loss(tokens, dense, compute).backward();
            for (std::size_t b = 0; b < decoder.blocks().size(); ++b) {
                auto& grad = decoder.blocks()[b]->grad();
                if (compute == at::kDouble)
                    exact.push_back(grad.clone());
                else
                    EXPECT_LT(largest_difference(grad, exact[b]),
                              1e-5 * exact[b].abs().max().item<double>() + 1e-6);
            }
        }
    }
}

}  // namespace
}  // namespace assay::nn
