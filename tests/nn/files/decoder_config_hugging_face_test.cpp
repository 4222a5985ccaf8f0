#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "impls/nn/files/decoder_config.hpp"
#include "suite/base/error.hpp"
#include "tests/nn/files/toy_hugging_face.hpp"

namespace assay::nn {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// The toy model with `changes` to its config.json (null removes nothing: it is written as null).
DecoderConfig read_with(const DecoderConfig& toy, const json& changes,
                        const std::string& without = "") {
    HuggingFaceModel model = hugging_face_of(toy_model(toy));
    model.config.update(changes);
    model.config.erase(without);
    return read_decoder_config(
        TensorFile::in_memory(model.tensors.bytes(), "toy", {{"config", std::move(model.config)}}));
}

std::string verdict(const DecoderConfig& toy, const json& changes,
                    const std::string& without = "") {
    try {
        read_with(toy, changes, without);
        return "accepted";
    } catch (const UserError& error) {
        return error.what();
    }
}
std::string llama(const json& changes, const std::string& without = "") {
    return verdict(toy_llama_config(), changes, without);
}
std::string gpt2(const json& changes) { return verdict(toy_gpt2_config(), changes); }

TEST(HuggingFaceConfig, Llama) {
    EXPECT_EQ(read_with(toy_llama_config(), json::object()), toy_llama_config());
    EXPECT_EQ(read_with(toy_llama_config(), {{"head_dim", nullptr}}), toy_llama_config());
    EXPECT_EQ(read_with(toy_llama_config(), json::object(), "architectures"), toy_llama_config());
    // Newer files keep the base elsewhere.
    EXPECT_EQ(read_with(toy_llama_config(),
                        {{"rope_parameters", {{"rope_type", "default"}, {"rope_theta", 100000}}}},
                        "rope_theta"),
              toy_llama_config());
}

TEST(HuggingFaceConfig, WhatIsMissingIsNamed) {
    for (const char* const key : {"num_hidden_layers", "hidden_size", "intermediate_size",
                                  "num_attention_heads", "vocab_size"})
        EXPECT_EQ(llama(json::object(), key),
                  std::string("toy (config.json): ") + key + " is missing");
    const auto model = hugging_face_of(toy_model(toy_llama_config()));
    EXPECT_THAT([&] { read_decoder_config(TensorFile::in_memory(model.tensors.bytes())); },
                testing::ThrowsMessage<UserError>(HasSubstr("no config.json beside it")));
}

TEST(HuggingFaceConfig, ImpossibleValues) {
    EXPECT_THAT(llama({{"num_hidden_layers", -1}}), HasSubstr("num_hidden_layers is -1"));
    EXPECT_THAT(llama({{"num_hidden_layers", 18446744073709551615u}}),
                HasSubstr("is 18446744073709551615, outside 1"));
    EXPECT_THAT(llama({{"num_hidden_layers", {2, 2}}}), HasSubstr("is a list, no whole number"));
    EXPECT_THAT(llama({{"num_hidden_layers", 3}}), HasSubstr("model.layers.2.input_layernorm"));
    EXPECT_THAT(llama({{"num_hidden_layers", 1}}), HasSubstr("says 1 layers"));
    EXPECT_THAT(llama({{"head_dim", 8}}), HasSubstr("was expected"));
    EXPECT_THAT(llama({{"head_dim", nullptr}, {"num_attention_heads", 6}}),
                HasSubstr("num_attention_heads does not divide hidden_size"));
    EXPECT_THAT(llama({{"vocab_size", 50}}), HasSubstr("where [50, 64] was expected"));
    EXPECT_THAT(llama({{"tie_word_embeddings", false}}),
                HasSubstr("\"lm_head.weight\" is missing"));
    EXPECT_THAT(llama({{"tie_word_embeddings", 0}}), HasSubstr("is 0, neither true nor false"));
    EXPECT_THAT(llama({{"architectures", json::array()}}), HasSubstr("exactly one architecture"));
    EXPECT_THAT(llama({{"architectures", {"BertModel"}}}), HasSubstr("names \"BertModel\""));
    EXPECT_THAT(llama({{"rms_norm_eps", "1e-5"}}),
                HasSubstr("rms_norm_eps is the text \"1e-5\", no number"));
}

TEST(HuggingFaceConfig, WhatWouldChangeResultsIsRefused) {
    EXPECT_THAT(llama({{"hidden_act", "gelu"}}), HasSubstr("hidden_act is \"gelu\""));
    EXPECT_THAT(llama({{"attention_bias", true}}), HasSubstr("attention_bias is set"));
    EXPECT_THAT(llama({{"mlp_bias", true}}), HasSubstr("mlp_bias is set"));
    EXPECT_THAT(llama({{"rope_scaling", {{"type", "linear"}, {"factor", 2}}}}),
                HasSubstr("rope_scaling is of type \"linear\""));
    EXPECT_THAT(llama({{"rope_scaling", {{"rope_type", "llama3"}}}}), HasSubstr("\"llama3\""));
    EXPECT_EQ(llama({{"rope_scaling", {{"rope_type", "default"}}}}), "accepted");
    EXPECT_THAT(llama({{"rope_scaling", 2}}), HasSubstr("rope_scaling is 2, no table"));
    EXPECT_THAT(llama({{"partial_rotary_factor", 0.5}}), HasSubstr("partial_rotary_factor"));
    EXPECT_THAT(llama({{"rope_interleaved", true}}), HasSubstr("rope_interleaved"));
    EXPECT_THAT(gpt2({{"activation_function", "gelu"}}), HasSubstr("activation_function is"));
    EXPECT_THAT(gpt2({{"scale_attn_weights", false}}), HasSubstr("scale_attn_weights"));
    EXPECT_THAT(gpt2({{"scale_attn_by_inverse_layer_idx", true}}), HasSubstr("is set"));
}

TEST(HuggingFaceConfig, Qwen) {
    for (const DecoderConfig& toy : {toy_qwen2_config(), toy_qwen3_config()}) {
        EXPECT_EQ(read_with(toy, json::object()), toy);
        EXPECT_EQ(read_with(toy, json::object(), "architectures"), toy);
        EXPECT_EQ(read_with(toy, json::object(), "max_position_embeddings").context, 32768);
        // A window that is not used: as Qwen2.5's files have it.
        EXPECT_EQ(read_with(toy, {{"sliding_window", 8}, {"max_window_layers", 1}}), toy);
        EXPECT_THAT(verdict(toy, {{"use_sliding_window", true}}),
                    HasSubstr("use_sliding_window is set; sliding windows are not supported"));
        EXPECT_THAT(verdict(toy, {{"rope_scaling", {{"type", "yarn"}, {"factor", 4}}}}),
                    HasSubstr("rope_scaling is of type \"yarn\""));
        EXPECT_THAT(verdict(toy, {{"attention_bias", true}}), HasSubstr("attention_bias is set"));
    }
    EXPECT_EQ(read_with(toy_qwen2_config(), json::object(), "head_dim"), toy_qwen2_config());
    DecoderConfig config = toy_qwen3_config();
    config.head_width = 128;  // what a file that is silent means
    EXPECT_EQ(read_with(config, json::object(), "head_dim"), config);
    // The same tensors under another name.
    EXPECT_THAT(verdict(toy_qwen2_config(), {{"architectures", {"LlamaForCausalLM"}}}),
                HasSubstr("q_proj.bias\": biases are not supported in llama"));
    EXPECT_THAT(verdict(toy_qwen2_config(), {{"architectures", {"Qwen3ForCausalLM"}}}),
                HasSubstr("self_attn.q_norm.weight\" is missing"));
}

TEST(HuggingFaceConfig, MistralWithoutWindow) {
    const json mistral{{"architectures", {"MistralForCausalLM"}}};
    const auto with = [&](json changes) {
        changes.update(mistral);
        return llama(changes);
    };
    // The context is 24.
    EXPECT_EQ(with({{"sliding_window", nullptr}}), "accepted");
    EXPECT_EQ(with({{"sliding_window", 24}}), "accepted");
    EXPECT_EQ(with(json::object()), "accepted");
    EXPECT_THAT(with({{"sliding_window", 23}}), HasSubstr("sliding_window is shorter"));
    EXPECT_THAT(with({{"max_position_embeddings", 8192}}), HasSubstr("sliding_window is shorter"));
    EXPECT_EQ(with({{"max_position_embeddings", 8192}, {"sliding_window", nullptr}}), "accepted");
}

TEST(HuggingFaceConfig, Gpt2) {
    EXPECT_EQ(read_with(toy_gpt2_config(), json::object()), toy_gpt2_config());
    DecoderConfig config = toy_gpt2_config();
    config.hidden = 4 * config.width;  // what n_inner = null means
    EXPECT_EQ(read_with(config, {{"n_inner", nullptr}}), config);
    EXPECT_THAT(gpt2({{"n_head", 7}}), HasSubstr("n_head does not divide n_embd"));
    EXPECT_THAT(gpt2({{"n_positions", 23}}), HasSubstr("where [23, 64] was expected"));
}

}  // namespace
}  // namespace assay::nn
