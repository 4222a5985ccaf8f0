#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "impls/nn/files/decoder_config.hpp"
#include "suite/base/error.hpp"
#include "tests/nn/files/toy_gguf.hpp"

namespace assay::nn {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

// A toy model with tensors of its configuration and metadata of its own.
class GgufMetadata {
  public:
    explicit GgufMetadata(const DecoderConfig& config) : tensors_(gguf_of(toy_model(config))) {}

    template <class Value>
    GgufMetadata& put(std::string_view key, const Value& value) {
        metadata_.put(key, value);
        return *this;
    }
    GgufMetadata& rename(const std::string& from, const std::string& to) {
        for (auto& tensor : tensors_.tensors)
            if (tensor.name == from) tensor.name = to;
        return *this;
    }
    GgufMetadata& tensor(const std::string& name, std::int64_t elements) {
        tensors_.tensor(name, {elements}, TensorType::f32,
                        std::vector<std::byte>(static_cast<std::size_t>(4 * elements)));
        return *this;
    }
    DecoderConfig read() const {
        GgufWriter writer = metadata_;
        writer.tensors = tensors_.tensors;
        return read_decoder_config(TensorFile::in_memory(writer.bytes(), "toy.gguf"));
    }
    std::string verdict() const {
        try {
            read();
            return "accepted";
        } catch (const UserError& error) {
            return error.what();
        }
    }

  private:
    GgufWriter metadata_, tensors_;
};

GgufMetadata llama(const std::string& left_out = "") {
    GgufMetadata file(toy_llama_config());
    const auto put = [&](const std::string& key, auto value) {
        if (key != left_out) file.put(key, value);
    };
    put("general.architecture", std::string("llama"));
    put("llama.block_count", 2u);
    put("llama.context_length", 24u);
    put("llama.embedding_length", 64u);
    put("llama.feed_forward_length", 96u);
    put("llama.attention.head_count", 4u);
    put("llama.attention.head_count_kv", 2u);
    put("llama.attention.layer_norm_rms_epsilon", 1e-5f);
    return file;
}

TEST(GgufConfig, DefaultsOfLlama) {
    const DecoderConfig config = llama().read();
    EXPECT_EQ(config.rope_base, 10000);
    EXPECT_EQ(config.norm_epsilon, 1e-5);  // not the float's 9.99999975e-06
    EXPECT_EQ(config.head_width, 16);
    EXPECT_TRUE(config.tied_embeddings);
    EXPECT_EQ(config.vocabulary, 40);
    EXPECT_EQ(config.name, "");
}

TEST(GgufConfig, WhatIsMissingIsNamed) {
    for (const char* const key :
         {"general.architecture", "llama.block_count", "llama.context_length",
          "llama.embedding_length", "llama.feed_forward_length", "llama.attention.head_count",
          "llama.attention.layer_norm_rms_epsilon"})
        EXPECT_EQ(llama(key).verdict(), std::string("toy.gguf: ") + key + " is missing");
    // As many key heads as query heads, which the tensors contradict.
    EXPECT_THAT(llama("llama.attention.head_count_kv").verdict(),
                HasSubstr("\"blk.0.attn_k.weight\" has the shape [32, 64] where [64, 64] was"));
}

TEST(GgufConfig, ImpossibleValues) {
    const auto with = [](const char* key, auto value) {
        return llama(key).put(key, value).verdict();
    };
    EXPECT_THAT(
        with("general.architecture", std::string("qwen3moe")),
        HasSubstr("general.architecture is \"qwen3moe\"; llama, qwen2, qwen3 and gpt2 are"));
    EXPECT_THAT(with("llama.block_count", 0u), HasSubstr("llama.block_count is 0, outside 1"));
    EXPECT_THAT(with("llama.block_count", std::int32_t{-2}), HasSubstr("is -2, outside 1"));
    EXPECT_THAT(with("llama.block_count", UINT64_MAX), HasSubstr("outside 1"));
    EXPECT_THAT(with("llama.block_count", 4000000000u), HasSubstr("outside 1"));
    EXPECT_THAT(with("llama.block_count", 2.0f),
                HasSubstr("is the decimal number 2.0, no whole number"));
    EXPECT_THAT(with("llama.block_count", std::string("2")),
                HasSubstr("is the text \"2\", no whole number"));
    EXPECT_THAT(with("llama.attention.head_count", 5u),
                HasSubstr("llama.attention.head_count does not divide embedding_length"));
    EXPECT_THAT(with("llama.attention.head_count_kv", 3u),
                HasSubstr("3 key and value heads do not divide 4 query heads"));
    EXPECT_THAT(with("llama.attention.head_count", 64u),
                AllOf(StartsWith("toy.gguf: "), HasSubstr("width 1")));
    for (const float wrong : {0.0f, -1e-5f, std::nanf(""), INFINITY})
        EXPECT_THAT(with("llama.attention.layer_norm_rms_epsilon", wrong),
                    HasSubstr("which is not positive"));
    EXPECT_THAT(with("llama.rope.freq_base", true), HasSubstr("is true, no number"));
}

TEST(GgufConfig, TensorsMustMatch) {
    const auto with = [](const char* key, std::uint32_t value) {
        return llama(key).put(key, value).verdict();
    };
    EXPECT_THAT(with("llama.block_count", 3), HasSubstr("\"blk.2.attn_norm.weight\" is missing"));
    EXPECT_THAT(with("llama.block_count", 1 << 24), HasSubstr("is missing"));
    EXPECT_THAT(with("llama.block_count", 1),
                HasSubstr("it holds \"blk.1.ffn_up.weight\", but its configuration says 1 layers"));
    EXPECT_THAT(with("llama.feed_forward_length", 128), HasSubstr("where [128, 64] was expected"));
    EXPECT_THAT(with("llama.vocab_size", 41), HasSubstr("but token_embd.weight has 40 rows"));
    EXPECT_THAT(llama().rename("token_embd.weight", "x").verdict(),
                HasSubstr("without a table of token embeddings"));
    EXPECT_THAT(llama().rename("output_norm.weight", "x").verdict(),
                HasSubstr("\"output_norm.weight\" is missing"));
    EXPECT_THAT(llama().tensor("output.weight", 40).verdict(),
                HasSubstr("\"output.weight\" has the shape [40] where [40, 64] was expected"));
    EXPECT_THAT(llama().tensor("blk.0.attn_q.bias", 64).verdict(),
                HasSubstr("\"blk.0.attn_q.bias\": biases are not supported in llama"));
}

TEST(GgufConfig, WhatWouldChangeResultsIsRefused) {
    const auto with = [](const char* key, auto value) { return llama().put(key, value).verdict(); };
    EXPECT_THAT(with("llama.rope.scaling.type", std::string("yarn")),
                HasSubstr("llama.rope.scaling.type is set; scaled rotary positions"));
    EXPECT_EQ(with("llama.rope.scaling.type", std::string("none")), "accepted");
    EXPECT_THAT(with("llama.rope.scaling.factor", 8.0f), HasSubstr("scaled rotary"));
    EXPECT_EQ(with("llama.rope.scaling.factor", 1.0f), "accepted");
    EXPECT_THAT(llama().tensor("rope_freqs.weight", 8).verdict(), HasSubstr("rope_freqs.weight"));
    EXPECT_THAT(with("llama.rope.dimension_count", 8u),
                HasSubstr("llama.rope.dimension_count is 8; only rotation of whole heads (16)"));
    EXPECT_EQ(with("llama.rope.dimension_count", 16u), "accepted");
    EXPECT_THAT(with("llama.expert_count", 8u), HasSubstr("mixtures of experts"));
    EXPECT_EQ(with("llama.expert_count", 0u), "accepted");
    EXPECT_THAT(with("llama.attention.sliding_window", 4096u), HasSubstr("sliding windows"));
    EXPECT_EQ(with("llama.attention.value_length", 8u), "accepted");
    EXPECT_THAT(llama()
                    .put("llama.attention.key_length", 16u)
                    .put("llama.attention.value_length", 8u)
                    .verdict(),
                HasSubstr("llama.attention.value_length differs"));
    EXPECT_THAT(with("split.count", std::uint16_t{3}), HasSubstr("one of several parts"));
    EXPECT_EQ(with("split.count", std::uint16_t{0}), "accepted");
    EXPECT_THAT(with("llama.logit_scale", 2.0f), HasSubstr("llama.logit_scale is set"));
    EXPECT_THAT(with("llama.tensor_data_layout", std::string("other")), HasSubstr("\"other\""));
}

TEST(GgufConfig, Qwen) {
    for (const DecoderConfig& config : {toy_qwen2_config(), toy_qwen3_config()}) {
        const std::string family = config.query_key_norms ? "qwen3." : "qwen2.";
        const auto with = [&](const char* key, auto value) {
            GgufWriter writer = gguf_of(toy_model(config));
            writer.put(family + key, value);
            return [bytes = writer.bytes()] {
                read_decoder_config(TensorFile::in_memory(bytes, "toy.gguf"));
            };
        };
        EXPECT_NO_THROW(with("rope.scaling.type", std::string("none"))());
        EXPECT_THAT(with("rope.scaling.type", std::string("yarn")),
                    testing::ThrowsMessage<UserError>(HasSubstr(family + "rope.scaling.type")));
        EXPECT_THAT(
            with("attention.sliding_window", 4096u),
            testing::ThrowsMessage<UserError>(HasSubstr(family + "attention.sliding_window")));
        EXPECT_THAT(with("expert_count", 128u),
                    testing::ThrowsMessage<UserError>(HasSubstr("mixtures of experts")));
    }
    const auto without = [](const DecoderConfig& config, const std::string& tensor) {
        GgufWriter writer = gguf_of(toy_model(config));
        std::erase_if(writer.tensors, [&](const auto& each) { return each.name == tensor; });
        return [bytes = writer.bytes()] { read_decoder_config(TensorFile::in_memory(bytes)); };
    };
    EXPECT_THAT(without(toy_qwen2_config(), "blk.1.attn_v.bias"),
                testing::ThrowsMessage<UserError>(HasSubstr("\"blk.1.attn_v.bias\" is missing")));
    EXPECT_THAT(
        without(toy_qwen3_config(), "blk.1.attn_k_norm.weight"),
        testing::ThrowsMessage<UserError>(HasSubstr("\"blk.1.attn_k_norm.weight\" is missing")));
}

TEST(GgufConfig, Gpt2) {
    const auto file = TensorFile::in_memory(gguf_of(toy_model(toy_gpt2_config())).bytes());
    EXPECT_EQ(read_decoder_config(file), toy_gpt2_config());
}

}  // namespace
}  // namespace assay::nn
