// FLOPs per token against LTE's Table 1 and counts made by hand; bytes as a file stores them.
#include <gtest/gtest.h>

#include "impls/model/decode_cost.hpp"
#include "impls/model/named_models.hpp"
#include "suite/base/error.hpp"
#include "tests/nn/files/toy_gguf.hpp"

namespace assay::model {
namespace {

TEST(DecodeCost, Llama7bIsTheTables) {
    const TokenFlops full = token_flops(named_shape("llama-7b"));
    EXPECT_EQ(full.total() / gibiflop, 12.0625);  // printed: 12.06
    EXPECT_EQ(full.ffn / gibiflop, 8.0625);
    EXPECT_EQ(full.attention / gibiflop, 4.0);
    EXPECT_EQ(full.router, 0);
    const TokenFlops routed = token_flops(named_shape("llama-7b"), 0, 344);
    EXPECT_NEAR(routed.router / gibiflop, 0.084, 0.0005);
    EXPECT_NEAR(routed.router / routed.ffn, 0.0104, 0.00005);
}

TEST(DecodeCost, SparsityScalesTheNetworksOnly) {
    const nn::DecoderConfig config = named_shape("smollm2-135m");
    const TokenFlops dense = layer_flops(config, 0, 48), sparse = layer_flops(config, 0.75, 48);
    EXPECT_DOUBLE_EQ(sparse.ffn, dense.ffn / 4);
    EXPECT_EQ(sparse.attention, dense.attention);
    EXPECT_EQ(sparse.router, dense.router);
}

TEST(DecodeCost, GroupedQueriesByHand) {
    // 9 query heads and 3 key heads of 64 over a width of 576; 3 matrices of 576 × 1536; 48
    // experts.
    const TokenFlops layer = layer_flops(named_shape("smollm2-135m"), 0, 48);
    EXPECT_EQ(layer.attention, 2.0 * (576 * 576 + 2 * 192 * 576 + 576 * 576));
    EXPECT_EQ(layer.ffn, 2.0 * 3 * 576 * 1536);
    EXPECT_EQ(layer.router, 2.0 * 576 * 48);
}

TEST(DecodeCost, WithoutAGateTwoMatrices) {
    const TokenFlops layer = layer_flops(named_shape("gpt2-medium"));
    EXPECT_EQ(layer.ffn, 2.0 * 2 * 1024 * 4096);
    EXPECT_EQ(layer.attention, 2.0 * 4 * 1024 * 1024);
}

TEST(DecodeCost, ImpliedSparsityInvertsTheCount) {
    const nn::DecoderConfig llama = named_shape("llama-7b");
    for (const int routed : {0, 344})
        for (const double sparsity : {0.0, 0.3, 0.84, 1.0})
            EXPECT_NEAR(
                implied_sparsity(llama, token_flops(llama, sparsity, routed).total(), routed),
                sparsity, 1e-12);
}

TEST(DecodeCost, NamedShapesHaveTheirPublishedSizes) {
    // Counts as the models' cards give them.
    EXPECT_EQ(named_shape("llama2-7b").parameters(), 6738415616);
    EXPECT_EQ(named_shape("llama2-13b").parameters(), 13015864320);
    EXPECT_EQ(named_shape("gpt2").parameters(), 124439808);
    EXPECT_EQ(named_shape("gpt2-medium").parameters(), 354823168);
    EXPECT_EQ(named_shape("smollm2-135m").parameters(), 134515008);
}

TEST(DecodeCost, UnknownShapesSuggestTheNearest) {
    try {
        named_shape("lama2-7b");
        FAIL();
    } catch (const UserError& error) {
        EXPECT_NE(std::string(error.what()).find("did you mean 'llama2-7b'?"), std::string::npos);
    }
}

TEST(DecodeCost, AFilesOwnTypesCount) {
    const nn::ToyModel toy = nn::toy_model([] {
        nn::DecoderConfig config;
        config.layers = 2;
        config.width = 64;
        config.hidden = 128;
        config.heads = 2;
        config.kv_heads = 1;
        config.head_width = 32;
        config.vocabulary = 96;
        return config;
    }());
    const nn::TensorFile file =
        nn::TensorFile::in_memory(nn::gguf_of(toy, nn::TensorType::q4_1).bytes(), "toy.gguf");
    const StoredModel stored = stored_model(file);
    EXPECT_EQ(stored.feed_forward.types, "q4_1");
    EXPECT_EQ(stored.feed_forward.bytes, 2 * 3 * 64 * 128 / 32 * 20);
    EXPECT_EQ(stored.attention.bytes, 2 * (64 * 64 + 2 * 32 * 64 + 64 * 64) / 32 * 20);
    EXPECT_EQ(stored.output.bytes, 96 * 64 / 32 * 20);
    EXPECT_EQ(stored.embedding_row.bytes, 64 / 32 * 20);
    EXPECT_EQ(stored.vectors.types, "f32");
    EXPECT_EQ(stored.vectors.bytes, (2 * 2 + 1) * 64 * 4);
    // Everything but the rows of the embedding that no token asks for is read.
    const StoredModel shape = stored_shape(stored.config, nn::TensorType::q4_1);
    EXPECT_EQ(shape.attention.bytes, stored.attention.bytes);
    EXPECT_EQ(shape.vectors.bytes, stored.vectors.bytes);
}

TEST(DecodeCost, RowsThatAreNoWholeBlocksAreRefused) {
    nn::DecoderConfig narrow = named_shape("gpt2");
    narrow.width = 720;
    EXPECT_THROW(stored_shape(narrow, nn::TensorType::q4_0), UserError);
}

TEST(DecodeCost, AStepTakesTheLongerOfBytesAndFlopsOfEachPart) {
    const std::vector<PartWork> step =
        decode_step(stored_shape(named_shape("llama2-7b"), nn::TensorType::bf16), 2, 0);
    ASSERT_EQ(step.size(), 5U);
    EXPECT_EQ(step[2].part, "ffn");
    EXPECT_EQ(step[2].flops, 2.0 * 32 * 2 * 3 * 4096 * 11008);
    EXPECT_EQ(step[2].bytes, 32.0 * 3 * 4096 * 11008 * 2);
    DeviceProfile device;
    device.matmul_efficiency.value = device.memory_efficiency.value = 1;
    device.memory_bandwidth.value = 1;
    device.matmul_flops.value = 1e-9;  // FLOPs take longer for every part that has any
    EXPECT_DOUBLE_EQ(expected_seconds({&step[2], 1}, device), step[2].flops * 1e9);
    EXPECT_DOUBLE_EQ(expected_seconds({&step[4], 1}, device), step[4].bytes);
}

}  // namespace
}  // namespace assay::model
