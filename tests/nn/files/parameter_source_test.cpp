// Every parameter of a toy model returns bit for bit from every arrangement a file may have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <random>
#include <stdexcept>

#include "impls/nn/files/parameter_source.hpp"
#include "suite/base/error.hpp"
#include "tests/nn/files/toy_gguf.hpp"
#include "tests/nn/files/toy_hugging_face.hpp"

namespace assay::nn {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// Bit for bit: also zeros with a sign, and what is no number.
bool same_bits(std::span<const float> a, std::span<const float> b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](float one, float other) {
        return std::bit_cast<std::uint32_t>(one) == std::bit_cast<std::uint32_t>(other);
    });
}

/// Stored rows, taken as their source says, are the parameter: whoever keeps them as they are (the
/// decoder) relies on it.
void expect_rows(const ToyModel& model, const TensorFile& file, const std::string& name) {
    const ParameterSource source = parameter_source(file, model.config, name);
    if (source.transposed || source.shape.size() != 2) return;
    const TensorEntry& tensor = file.require(source.tensor, source.stored_shape);
    const auto outputs = static_cast<std::size_t>(source.shape[0]);
    std::vector<float> row(static_cast<std::size_t>(source.shape[1]));
    std::vector<std::int32_t> order;
    if (source.interleaved) order = interleaved_rows(source.shape[0], model.config.head_width);
    for (std::size_t i = 0; i < outputs; ++i) {
        const std::int64_t stored =
            source.first_output + (order.empty() ? static_cast<std::int64_t>(i) : order.at(i));
        to_floats(tensor, stored * source.shape[1], row);
        EXPECT_TRUE(same_bits(
            row, std::span(model.parameters.at(name)).subspan(i * row.size(), row.size())))
            << name << " row " << i;
    }
}

void expect_same(const ToyModel& model, const TensorFile& file) {
    EXPECT_EQ(read_decoder_config(file), model.config);
    for (const auto& [name, values] : model.parameters) {
        std::vector<float> read(values.size(), 99);
        read_parameter(file, model.config, name, read);
        EXPECT_TRUE(same_bits(read, values)) << name;
        expect_rows(model, file, name);
    }
}

TensorFile in_memory(const HuggingFaceModel& model) {
    return TensorFile::in_memory(model.tensors.bytes(), "toy", {{"config", model.config}});
}

std::vector<ToyModel> models() {
    std::vector<ToyModel> all{toy_model(toy_llama_config(), 1), toy_model(toy_gpt2_config(), 2)};
    DecoderConfig config = toy_llama_config();
    config.tied_embeddings = false;
    config.head_width = 32;  // heads · head_width is twice the width
    all.push_back(toy_model(config, 3));
    config = toy_gpt2_config();
    config.tied_embeddings = false;
    config.heads = config.kv_heads = 2;
    config.head_width = 32;
    all.push_back(toy_model(config, 4));
    all.push_back(toy_model(toy_qwen2_config(), 5));
    all.push_back(toy_model(toy_qwen3_config(), 6));
    return all;
}

class GgufMatrices : public testing::TestWithParam<TensorType> {};
class HuggingFaceMatrices : public testing::TestWithParam<TensorType> {};

TEST_P(GgufMatrices, ReadBack) {
    for (const ToyModel& model : models())
        expect_same(model, TensorFile::in_memory(gguf_of(model, GetParam()).bytes()));
}

TEST_P(HuggingFaceMatrices, ReadBack) {
    for (const ToyModel& model : models())
        for (const char* const prefix : {"transformer.", ""})
            expect_same(model, in_memory(hugging_face_of(model, GetParam(), prefix)));
}

/// Whatever `type`, one of the floating ones, can hold: infinities, subnormals, what is no number.
ToyModel of_any_values(ToyModel model, TensorType type) {
    std::mt19937_64 random(5);
    for (auto& [name, values] : model.parameters)
        for (float& value : values) {
            const auto bits = static_cast<std::uint32_t>(random());
            value = type == TensorType::f16    ? from_float16(static_cast<std::uint16_t>(bits))
                    : type == TensorType::bf16 ? from_bfloat16(static_cast<std::uint16_t>(bits))
                                               : std::bit_cast<float>(bits);
        }
    return model;
}

TEST_P(HuggingFaceMatrices, AnyValueReadsBack) {
    for (const ToyModel& model : models()) {
        const ToyModel any = of_any_values(model, GetParam());
        expect_same(any, in_memory(hugging_face_of(any, GetParam())));
        expect_same(any, TensorFile::in_memory(gguf_of(any, GetParam()).bytes()));
    }
}

std::string type_name(const testing::TestParamInfo<TensorType>& info) {
    return std::string(to_string(info.param));
}
INSTANTIATE_TEST_SUITE_P(Parameter, GgufMatrices,
                         testing::Values(TensorType::f32, TensorType::f16, TensorType::bf16,
                                         TensorType::q8_0, TensorType::q4_0, TensorType::q4_1),
                         type_name);
INSTANTIATE_TEST_SUITE_P(Parameter, HuggingFaceMatrices,
                         testing::Values(TensorType::f32, TensorType::f16, TensorType::bf16),
                         type_name);

TEST(Parameter, ReluModelOfGpt2Shape) {
    DecoderConfig config = toy_gpt2_config();
    config.activation = Activation::relu;
    expect_same(toy_model(config), in_memory(hugging_face_of(toy_model(config))));
}

TEST(Parameter, WhichRowsLieOtherwise) {
    // Heads of width 16: ours 0 … 7 are the stored even ones, ours 8 … 15 the odd ones.
    const auto order = interleaved_rows(64, 16);
    EXPECT_EQ(
        std::vector(order.begin(), order.begin() + 18),
        (std::vector<std::int32_t>{0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15, 16, 18}));

    const ToyModel llama = toy_model(toy_llama_config()), gpt2 = toy_model(toy_gpt2_config());
    const auto gguf = TensorFile::in_memory(gguf_of(llama, TensorType::q4_1).bytes());
    const auto of_llama = [&](const TensorFile& file, std::string_view name) {
        return parameter_source(file, llama.config, name);
    };
    EXPECT_EQ(of_llama(gguf, "layer1/query").tensor, "blk.1.attn_q.weight");
    EXPECT_TRUE(of_llama(gguf, "layer1/query").interleaved);
    for (const char* const name : {"layer1/value", "token_embedding", "final_norm"})
        EXPECT_FALSE(of_llama(gguf, name).interleaved) << name;
    EXPECT_FALSE(of_llama(in_memory(hugging_face_of(llama)), "layer0/query").interleaved);

    for (const DecoderConfig& config : {toy_qwen2_config(), toy_qwen3_config()}) {
        const auto qwen = TensorFile::in_memory(gguf_of(toy_model(config)).bytes());
        EXPECT_FALSE(parameter_source(qwen, config, "layer0/query").interleaved);
        EXPECT_EQ(gguf_parameter_source(config, "layer0/query").interleaved, false);
    }

    const auto conv1d = in_memory(hugging_face_of(gpt2));
    for (const char* const name : {"layer0/query", "layer0/up", "layer0/attention_out"})
        EXPECT_TRUE(parameter_source(conv1d, gpt2.config, name).transposed) << name;
    EXPECT_FALSE(parameter_source(conv1d, gpt2.config, "token_embedding").transposed);
    const auto fused = TensorFile::in_memory(gguf_of(gpt2).bytes());
    EXPECT_TRUE(parameter_source(fused, gpt2.config, "layer0/key").fused);
    EXPECT_FALSE(parameter_source(fused, gpt2.config, "layer0/down").fused);
}

TEST(Parameter, MissingAndMisshapenTensorsAreNamed) {
    const ToyModel model = toy_model(toy_llama_config());
    std::vector<float> room(96 * 64);
    GgufWriter writer = gguf_of(model);
    std::erase_if(writer.tensors, [](const auto& t) { return t.name == "blk.1.ffn_up.weight"; });
    EXPECT_THAT(
        [&] {
            read_parameter(TensorFile::in_memory(writer.bytes()), model.config, "layer1/up", room);
        },
        ThrowsMessage<UserError>(HasSubstr("\"blk.1.ffn_up.weight\" is missing")));
    writer = gguf_of(model);
    for (auto& tensor : writer.tensors)
        if (tensor.name == "blk.1.ffn_up.weight") std::swap(tensor.shape[0], tensor.shape[1]);
    EXPECT_THAT(
        [&] {
            read_parameter(TensorFile::in_memory(writer.bytes()), model.config, "layer1/up", room);
        },
        ThrowsMessage<UserError>(HasSubstr("shape [64, 96] where [96, 64] was expected")));
}

TEST(Parameter, WrongCallsAreRefused) {
    const ToyModel model = toy_model(toy_llama_config());
    const auto file = TensorFile::in_memory(gguf_of(model).bytes());
    std::vector<float> room(64);
    for (const char* const name : {"layer2/up", "layer-1/up", "layer/up", "up", "layer0/nothing",
                                   "layer0/query_bias", "output", "", "layer0/"})
        EXPECT_THROW(read_parameter(file, model.config, name, room), std::invalid_argument) << name;
    EXPECT_THROW(read_parameter(file, model.config, "final_norm", std::span(room).first(63)),
                 std::invalid_argument);
}

TEST(Parameter, CountIsExact) {
    for (const ToyModel& model : models()) {
        std::size_t elements = 0;
        for (const auto& [name, values] : model.parameters) elements += values.size();
        EXPECT_EQ(model.config.parameters(), static_cast<std::int64_t>(elements));
    }
    // Published counts: SmolLM2-135M, GPT-2 small.
    DecoderConfig smollm2;
    smollm2.layers = 30;
    smollm2.width = 576;
    smollm2.hidden = 1536;
    smollm2.heads = 9;
    smollm2.kv_heads = 3;
    smollm2.head_width = 64;
    smollm2.vocabulary = 49152;
    EXPECT_EQ(smollm2.parameters(), 134515008);
    DecoderConfig gpt2;
    gpt2.family = Family::gpt2;
    gpt2.activation = Activation::gelu;
    gpt2.layers = 12;
    gpt2.width = 768;
    gpt2.hidden = 3072;
    gpt2.heads = gpt2.kv_heads = 12;
    gpt2.head_width = 64;
    gpt2.vocabulary = 50257;
    gpt2.context = 1024;
    EXPECT_EQ(gpt2.parameters(), 124439808);
    // Qwen2.5-0.5B, Qwen3-0.6B.
    DecoderConfig qwen2;
    qwen2.layers = 24;
    qwen2.width = 896;
    qwen2.hidden = 4864;
    qwen2.heads = 14;
    qwen2.kv_heads = 2;
    qwen2.head_width = 64;
    qwen2.vocabulary = 151936;
    qwen2.query_key_value_biases = true;
    EXPECT_EQ(qwen2.parameters(), 494032768);
    DecoderConfig qwen3;
    qwen3.layers = 28;
    qwen3.width = 1024;
    qwen3.hidden = 3072;
    qwen3.heads = 16;
    qwen3.kv_heads = 8;
    qwen3.head_width = 128;
    qwen3.vocabulary = 151936;
    qwen3.query_key_norms = true;
    EXPECT_EQ(qwen3.parameters(), 596049920);
}

}  // namespace
}  // namespace assay::nn
