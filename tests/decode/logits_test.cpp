// The forward pass's logits against a decoder written in double, for every kind of model and all
// stored types.
#include <tuple>

#include "tests/decode/toy_networks.hpp"
#include "tests/nn/files/toy_hugging_face.hpp"

namespace assay::decode {
namespace {

using nn::TensorType;

constexpr double fp32 = 2e-5;  // of the largest logit; sums of about a hundred products

nn::ToyModel model_named(const std::string& name) {
    nn::DecoderConfig config = nn::toy_llama_config();
    if (name == "gpt2") config = nn::toy_gpt2_config();
    if (name == "qwen2") config = nn::toy_qwen2_config();
    if (name == "qwen3") config = nn::toy_qwen3_config();
    if (name == "untied") {
        config.tied_embeddings = false;
        config.head_width = 32;  // heads · head width is not the width
    }
    if (name == "one key head") config.kv_heads = 1;
    if (name == "many heads") {  // more to a key head than are computed together
        config.heads = 20;
        config.kv_heads = 1;
    }
    return nn::toy_model(config, 7);
}

class Logits : public testing::TestWithParam<std::tuple<const char*, TensorType>> {};

TEST_P(Logits, AsTheReference) {
    const auto& [name, type] = GetParam();
    const nn::ToyModel model = model_named(name);
    const nn::TensorFile file = toy_file(model, type);
    LoneSequence sequence(file, {}, 2);
    EXPECT_EQ(sequence.config(), model.config);

    const std::vector<int> ids = random_ids(21, model.config.vocabulary, 3);
    const auto expected = ReferenceDecoder(model).logits(ids);
    expect_near(sequence.feed(std::span(ids).first(18)), expected[17], fp32);
    for (std::size_t i = 18; i < ids.size(); ++i)
        expect_near(sequence.feed(std::span(ids).subspan(i, 1)), expected[i], fp32);
}

INSTANTIATE_TEST_SUITE_P(Models, Logits,
                         testing::Combine(testing::Values("llama", "gpt2", "qwen2", "qwen3",
                                                          "untied", "one key head", "many heads"),
                                          testing::Values(TensorType::f32, TensorType::f16,
                                                          TensorType::bf16, TensorType::q8_0,
                                                          TensorType::q4_0, TensorType::q4_1)));

// Weights of the grid are exact in every type, so that changing it changes no more than rounding.
TEST(LogitsOf, WeightTypes) {
    const nn::ToyModel model = model_named("llama");
    const std::vector<int> ids = random_ids(9, model.config.vocabulary, 4);
    const auto expected = ReferenceDecoder(model).logits(ids);
    for (const TensorType stored : {TensorType::f32, TensorType::q4_1})
        for (const WeightType weights : {WeightType::f32, WeightType::bf16}) {
            LoneSequence sequence(toy_file(model, stored), {.weights = weights});
            expect_near(sequence.feed(ids), expected.back(), fp32);
        }
}

TEST(LogitsOf, HuggingFaceFiles) {
    for (const char* const name : {"llama", "gpt2", "qwen2", "qwen3", "untied"})
        for (const TensorType type : {TensorType::f32, TensorType::f16, TensorType::bf16}) {
            const nn::ToyModel model = model_named(name);
            const nn::HuggingFaceModel written = nn::hugging_face_of(model, type);
            const auto file = nn::TensorFile::in_memory(written.tensors.bytes(), "toy",
                                                        {{"config", written.config}});
            LoneSequence sequence(file);
            const std::vector<int> ids = random_ids(9, model.config.vocabulary, 5);
            expect_near(sequence.feed(ids), ReferenceDecoder(model).logits(ids).back(), fp32);
        }
}

TEST(LogitsOf, ReluModels) {
    nn::DecoderConfig config = nn::toy_gpt2_config();
    config.activation = nn::Activation::relu;
    const nn::ToyModel model = nn::toy_model(config, 8);
    const nn::HuggingFaceModel written = nn::hugging_face_of(model);
    LoneSequence sequence(
        nn::TensorFile::in_memory(written.tensors.bytes(), "toy", {{"config", written.config}}));
    const std::vector<int> ids = random_ids(5, config.vocabulary, 6);
    expect_near(sequence.feed(ids), ReferenceDecoder(model).logits(ids).back(), fp32);
}

// Beyond one chunk of positions of the attention.
TEST(LogitsOf, LongContext) {
    nn::DecoderConfig config = nn::toy_llama_config();
    config.layers = 1;
    config.context = 600;
    const nn::ToyModel model = nn::toy_model(config, 9);
    const std::vector<int> ids = random_ids(600, config.vocabulary, 7);
    const auto expected = ReferenceDecoder(model).logits(ids);
    for (const int threads : {1, 3}) {
        LoneSequence sequence(toy_file(model), {}, threads);
        std::size_t at = 0;
        for (const std::size_t end : {255u, 256u, 257u, 511u, 513u, 600u}) {
            expect_near(sequence.feed(std::span(ids).subspan(at, end - at)), expected[end - 1],
                        fp32);
            at = end;
        }
    }
}

}  // namespace
}  // namespace assay::decode
