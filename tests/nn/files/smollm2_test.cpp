// SmolLM2-135M-Instruct as its Python package carries it (Q4_1), where ASSAY_TEST_MODEL names it.
// Expected values: the Python package gguf 0.19.0 (its dequantisation, and the rows of query put
// back by its converter's permutation reversed).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

#include "impls/nn/files/parameter_source.hpp"

namespace assay::nn {
namespace {

class SmolLm2 : public testing::Test {
  protected:
    void SetUp() override {
        const char* const path = std::getenv("ASSAY_TEST_MODEL");
        if (!path) GTEST_SKIP() << "needs ASSAY_TEST_MODEL, the path of SmolLM2's GGUF file";
        file_.emplace(path);
    }
    std::vector<float> parameter(std::string_view name, std::size_t elements) const {
        std::vector<float> values(elements);
        read_parameter(*file_, read_decoder_config(*file_), name, values);
        return values;
    }
    std::optional<TensorFile> file_;
};

TEST_F(SmolLm2, Configuration) {
    DecoderConfig expected;
    expected.layers = 30;
    expected.width = 576;
    expected.hidden = 1536;
    expected.heads = 9;
    expected.kv_heads = 3;
    expected.head_width = 64;
    expected.vocabulary = 49152;
    expected.context = 8192;
    expected.rope_base = 100000;
    expected.norm_epsilon = 1e-5;
    expected.name = "Smollm2 135M 8k Lc100K Mix1 Ep2";
    EXPECT_EQ(read_decoder_config(*file_), expected);
    EXPECT_EQ(file_->tensors().size(), 272u);
    EXPECT_EQ(file_->file_bytes(), 98362432u);
    EXPECT_EQ(file_->metadata().at("tokenizer.ggml.tokens").size(), 49152u);
    EXPECT_EQ(file_->metadata().at("tokenizer.ggml.merges").size(), 48900u);
}

TEST_F(SmolLm2, DequantisedValues) {
    // Sums over millions of elements: every one is an exact float, the double sum is exact too.
    double sum = 0;
    const auto embedding = parameter("token_embedding", 49152 * 576);
    for (const float value : embedding) sum += value;
    EXPECT_EQ(sum, -0x1.dfc85b1fcp+13);
    EXPECT_EQ(embedding[1000 * 576 + 17], 0x1.b608p-3f);

    sum = 0;
    const auto down = parameter("layer0/down", 576 * 1536);
    for (const float value : down) sum += value;
    EXPECT_EQ(sum, 0x1.2d45840p+7);
    EXPECT_EQ(down[5 * 1536 + 700], -0x1.b58p-6f);

    const auto query = parameter("layer29/query", 576 * 576);
    EXPECT_EQ(query[0], 0x1.0c4p-2f);
    EXPECT_EQ(query[1 * 576 + 5], 0x1.5b5p-3f);
    EXPECT_EQ(query[40 * 576 + 7], 0x1.5p-7f);
    EXPECT_EQ(query[97 * 576 + 100], -0x1.0fp-4f);
    EXPECT_EQ(query[575 * 576 + 575], 0x1.29p-6f);
    EXPECT_EQ(parameter("layer12/attention_norm", 576)[3], 0x1.38p-4f);
}

}  // namespace
}  // namespace assay::nn
