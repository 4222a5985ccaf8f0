// FLOPs per token against the paper's Table 1 and counts made by hand.
#include "impls/lte/flops.hpp"

#include <gtest/gtest.h>

#include "impls/lte/named_shapes.hpp"
#include "suite/experiment/error.hpp"

namespace assay::lte {
namespace {

TEST(LteFlops, Llama7bIsTheTables) {
    const TokenFlops full = token_flops(named_shape("llama-7b"), 0, false);
    EXPECT_EQ(full.total() / flops_unit, 12.0625);  // printed: 12.06
    EXPECT_EQ(full.ffn / flops_unit, 8.0625);
    EXPECT_EQ(full.attention / flops_unit, 4.0);
    EXPECT_EQ(full.router, 0);
    const TokenFlops routed = token_flops(named_shape("llama-7b"), 0, true);
    EXPECT_NEAR(routed.router / flops_unit, 0.084, 0.0005);
    EXPECT_NEAR(routed.router / routed.ffn, 0.0104, 0.00005);
}

TEST(LteFlops, SparsityScalesTheNetworksOnly) {
    const nn::DecoderConfig config = named_shape("smollm2-135m");
    const TokenFlops dense = layer_flops(config, 0, true), sparse = layer_flops(config, 0.75, true);
    EXPECT_DOUBLE_EQ(sparse.ffn, dense.ffn / 4);
    EXPECT_EQ(sparse.attention, dense.attention);
    EXPECT_EQ(sparse.router, dense.router);
}

TEST(LteFlops, GroupedQueriesByHand) {
    // 9 query heads and 3 key heads of 64 over a width of 576; 3 matrices of 576 × 1536; 48
    // experts.
    const TokenFlops layer = layer_flops(named_shape("smollm2-135m"), 0, true);
    EXPECT_EQ(layer.attention, 2.0 * (576 * 576 + 2 * 192 * 576 + 576 * 576));
    EXPECT_EQ(layer.ffn, 2.0 * 3 * 576 * 1536);
    EXPECT_EQ(layer.router, 2.0 * 576 * 48);
}

TEST(LteFlops, WithoutAGateTwoMatrices) {
    const TokenFlops layer = layer_flops(named_shape("gpt2-medium"), 0, false);
    EXPECT_EQ(layer.ffn, 2.0 * 2 * 1024 * 4096);
    EXPECT_EQ(layer.attention, 2.0 * 4 * 1024 * 1024);
}

TEST(LteFlops, ExpertsOfThePapersModels) {
    EXPECT_EQ(experts_per_layer(named_shape("llama-7b")), 344);
    EXPECT_EQ(experts_per_layer(named_shape("gpt2-medium")), 128);
    nn::DecoderConfig uneven = named_shape("gpt2");
    uneven.hidden = 100;
    EXPECT_THROW(layer_flops(uneven, 0, false), UserError);
}

TEST(LteFlops, ImpliedSparsityInvertsTheCount) {
    const nn::DecoderConfig llama = named_shape("llama-7b");
    for (const bool routed : {false, true})
        for (const double sparsity : {0.0, 0.3, 0.84, 1.0})
            EXPECT_NEAR(
                implied_sparsity(llama, token_flops(llama, sparsity, routed).total(), routed),
                sparsity, 1e-12);
}

TEST(LteFlops, NamedShapesHaveTheirPublishedSizes) {
    // Counts as the models' cards give them.
    EXPECT_EQ(named_shape("llama2-7b").parameters(), 6738415616);
    EXPECT_EQ(named_shape("llama2-13b").parameters(), 13015864320);
    EXPECT_EQ(named_shape("gpt2").parameters(), 124439808);
    EXPECT_EQ(named_shape("gpt2-medium").parameters(), 354823168);
    EXPECT_EQ(named_shape("smollm2-135m").parameters(), 134515008);
}

TEST(LteFlops, UnknownShapesSuggestTheNearest) {
    try {
        named_shape("lama2-7b");
        FAIL();
    } catch (const UserError& error) {
        EXPECT_NE(std::string(error.what()).find("did you mean 'llama2-7b'?"), std::string::npos);
    }
}

}  // namespace
}  // namespace assay::lte
