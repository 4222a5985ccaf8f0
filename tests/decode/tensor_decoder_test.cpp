// The decoder on libtorch's devices against the engine's forward pass, on the CPU, where both run:
// only the device differs on a GPU.
#include "impls/decode/tensors/tensor_decoder.hpp"

#include <ATen/ops/from_blob.h>
#include <gtest/gtest.h>

#include "suite/base/error.hpp"
#include "tests/decode/toy_networks.hpp"

namespace assay::decode {
namespace {

nn::ToyModel model_of(bool grouped, bool tied) {
    nn::DecoderConfig config = nn::toy_llama_config();
    config.tied_embeddings = tied;
    if (!grouped) config.kv_heads = config.heads;
    return toy_sparse_model(config, 31);
}

class Tensors : public testing::TestWithParam<bool> {
  protected:
    nn::ToyModel model = model_of(GetParam(), GetParam());
    nn::TensorFile file = toy_file(model);
    std::vector<int> ids = random_ids(19, model.config.vocabulary, 32);
    const AssayKernels& kernels = *assay_cpu_kernels(nullptr);
    std::unique_ptr<AssayContext, void (*)(AssayContext*)> context{kernels.create(2, 0, nullptr),
                                                                   kernels.destroy};

    std::shared_ptr<TensorWeights> weights(at::ScalarType type = at::kFloat) const {
        auto all =
            std::make_shared<TensorWeights>(tensor_weights_of(file, model.config, type, at::kCPU));
        for (int i = 0; i < model.config.layers; ++i) {
            auto values = toy_router(i, model.config.width);
            all->layers[static_cast<std::size_t>(i)].router =
                at::from_blob(values.data(), {toy_experts, model.config.width}, at::kFloat)
                    .clone()
                    .to(type);
        }
        return all;
    }
    TensorDecoder decoder(const ExpertSelection& choice = {}, int positions = 24) const {
        return {weights(), kernels, context.get(), positions, choice};
    }
    /// The same logits after every id, and the same count of bytes.
    void expect_as(LoneSequence& engine, TensorDecoder& tensors, double tolerance = 2e-5) const {
        for (std::size_t i = 0; i < ids.size(); ++i) {
            const auto expected = engine.feed({&ids[i], 1});
            const at::Tensor& logits = tensors.feed(ids[i]);
            SCOPED_TRACE(i);
            expect_near({logits.const_data_ptr<float>(), static_cast<std::size_t>(logits.numel())},
                        Row(expected.begin(), expected.end()), tolerance);
        }
        EXPECT_EQ(tensors.position(), engine.position());
        EXPECT_EQ(tensors.bytes_per_token(), engine.bytes());
    }
};

TEST_P(Tensors, DecodeAsTheEngineDoes) {
    LoneSequence engine(file, {.weights = WeightType::f32});
    TensorDecoder tensors = decoder();
    expect_as(engine, tensors);
}

TEST_P(Tensors, DecodeWithRoutersAsTheEngineDoes) {
    LoneSequence engine(
        with_networks(file, toy_sparse_layers(model, 0.01F), {}, {.weights = WeightType::f32}));
    ExpertSelection choice{ExpertSelection::By::router, 0.01F, {}};
    TensorDecoder tensors = decoder(choice);
    expect_as(engine, tensors);
}

TEST_P(Tensors, DecodeWithRandomExpertsAsTheEngineDoes) {
    for (const int count : {0, 2, toy_experts}) {
        LoneSequence engine(with_networks(file, toy_sparse_layers(model, 0),
                                          RandomExperts{count, 3}, {.weights = WeightType::f32}));
        TensorDecoder tensors = decoder({ExpertSelection::By::random, 0, {count, 3}});
        expect_as(engine, tensors);
    }
}

TEST_P(Tensors, SixteenBitWeightsAndCacheStayNear) {
    LoneSequence engine(file, {.weights = WeightType::bf16});
    TensorDecoder tensors(weights(at::kBFloat16), kernels, context.get(), 24, {}, at::kBFloat16);
    for (const int& id : ids) {
        const auto expected = engine.feed({&id, 1});
        const at::Tensor& logits = tensors.feed(id);
        expect_near({logits.const_data_ptr<float>(), static_cast<std::size_t>(logits.numel())},
                    Row(expected.begin(), expected.end()), 3e-2);
    }
}

TEST_P(Tensors, RewoundTheyComputeTheSameAgain) {
    TensorDecoder tensors = decoder({ExpertSelection::By::random, 0, {2, 5}});
    for (const int id : {1, 2, 3}) tensors.feed(id);
    const auto first = tensors.feed(4).clone();
    tensors.feed(5);
    tensors.rewind(3);
    EXPECT_TRUE(tensors.feed(4).equal(first));
    EXPECT_THROW(tensors.rewind(5), std::invalid_argument);
}

TEST_P(Tensors, RefuseWhatCannotBe) {
    TensorDecoder tensors = decoder({}, 2);
    EXPECT_THROW(tensors.feed(-1), UserError);
    EXPECT_THROW(tensors.feed(model.config.vocabulary), UserError);
    tensors.feed(1);
    tensors.feed(1);
    EXPECT_THROW(tensors.feed(1), UserError);
    EXPECT_THROW(decoder({}, model.config.context + 1), UserError);
    EXPECT_THROW(decoder({ExpertSelection::By::random, 0, {toy_experts + 1, 1}}), UserError);
    const auto bare = std::make_shared<TensorWeights>(
        tensor_weights_of(file, model.config, at::kFloat, at::kCPU));
    EXPECT_THROW(
        TensorDecoder(bare, kernels, context.get(), 4, {ExpertSelection::By::router, 0, {}}),
        UserError);
}

INSTANTIATE_TEST_SUITE_P(GroupedAndPlain, Tensors, testing::Bool());

TEST(RandomTensorWeights, AreAFunctionOfTheSeedAndHaveTheShapesOfTheModel) {
    nn::DecoderConfig config = nn::toy_llama_config();
    const auto one = random_tensor_weights(config, at::kBFloat16, at::kCPU, 1);
    const auto same = random_tensor_weights(config, at::kBFloat16, at::kCPU, 1);
    const auto other = random_tensor_weights(config, at::kBFloat16, at::kCPU, 2);
    EXPECT_TRUE(one.layers[1].gate.equal(same.layers[1].gate));
    EXPECT_FALSE(one.layers[1].gate.equal(other.layers[1].gate));
    std::int64_t counted = one.embedding.numel() + one.final_norm.numel();
    for (const TensorLayer& layer : one.layers)
        for (const auto* const part :
             {&layer.attention_norm, &layer.ffn_norm, &layer.query_key_value, &layer.attention_out,
              &layer.gate, &layer.up, &layer.down})
            counted += part->numel();
    EXPECT_EQ(counted, config.parameters());
    EXPECT_EQ(one.layers[0].router.size(0), 3);
    EXPECT_TRUE(one.output.is_same(one.embedding));
}

TEST(RandomTensorWeights, OfOtherFamiliesAreRefused) {
    EXPECT_THROW(random_tensor_weights(nn::toy_gpt2_config(), at::kFloat, at::kCPU, 1), UserError);
    nn::DecoderConfig config = nn::toy_llama_config();
    config.hidden = 100;
    EXPECT_THROW(random_tensor_weights(config, at::kFloat, at::kCPU, 1), UserError);
}

}  // namespace
}  // namespace assay::decode
