// What must hold for any decoder, whatever its weights.
#include <gtest/gtest.h>

#include <cmath>

#include "impls/nn/decoder_file.hpp"
#include "impls/nn/decoder_layers.hpp"
#include "suite/base/error.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/nn/small_decoders.hpp"

namespace assay::nn {
namespace {

at::Tensor logits_of(const Decoder& decoder, const at::Tensor& ids,
                     at::ScalarType compute = at::kFloat) {
    at::NoGradGuard no_grad;
    DenseFeedForward dense;
    return decoder.logits(ids, dense, compute);
}

TEST(Decoder, ALaterTokenChangesNothingBeforeIt) {
    for (const auto& config : {small_llama(), small_gpt2()}) {
        Decoder decoder(config, 1);
        enlarge(decoder);
        auto ids = random_ids(3, 8, config.vocabulary);
        const auto before = logits_of(decoder, ids);
        for (std::int64_t changed = 1; changed < 8; ++changed) {
            auto other = ids.clone();
            other.select(1, changed).add_(1).remainder_(config.vocabulary);
            const auto after = logits_of(decoder, other);
            EXPECT_TRUE(before.narrow(1, 0, changed).equal(after.narrow(1, 0, changed)));
            EXPECT_GT(largest_difference(before.select(1, changed), after.select(1, changed)),
                      1e-3);
        }
    }
}

TEST(Decoder, SequencesOfABatchDoNotMeet) {
    for (const auto& config : {small_llama(), small_gpt2()}) {
        Decoder decoder(config, 1);
        enlarge(decoder);
        const auto ids = random_ids(3, 8, config.vocabulary);
        const auto together = logits_of(decoder, ids);
        for (std::int64_t s = 0; s < 3; ++s)
            EXPECT_LT(largest_difference(together[s], logits_of(decoder, ids.narrow(0, s, 1))[0]),
                      1e-5);
    }
}

TEST(Decoder, DrawnOnTheDeviceItHasTheSameSpreadAndItsOwnValues) {
    auto config = small_llama();
    config.hidden = 4096;
    const Decoder by_name(config, 1), again(config, 1),
        on_device(config, 1, at::kCPU, at::kBFloat16, Draw::on_device);
    EXPECT_TRUE(again.parameter("layer1/up").equal(by_name.parameter("layer1/up")));
    for (const char* name : {"layer1/up", "layer0/down"}) {
        const at::Tensor wanted = by_name.parameter(name).detach();
        const at::Tensor drawn = on_device.parameter(name).detach();
        EXPECT_EQ(drawn.scalar_type(), at::kBFloat16);
        EXPECT_NEAR(drawn.to(at::kDouble).std().item<double>() / wanted.std().item<double>(), 1,
                    0.03);
        EXPECT_FALSE(drawn.to(at::kFloat).equal(wanted));
    }
    EXPECT_TRUE(on_device.parameter("layer0/ffn_norm").eq(1).all().item<bool>());
    EXPECT_TRUE(on_device.parameter("layer1/up").requires_grad());
}

TEST(Decoder, PositionsMatter) {
    for (const auto& config : {small_llama(), small_gpt2()}) {
        Decoder decoder(config, 1);
        enlarge(decoder);
        const auto ids = at::tensor({1, 2, 3, 4}, at::kLong).view({1, 4});
        const auto swapped = at::tensor({2, 1, 3, 4}, at::kLong).view({1, 4});
        EXPECT_GT(largest_difference(logits_of(decoder, ids).select(1, 3),
                                     logits_of(decoder, swapped).select(1, 3)),
                  1e-3);
    }
}

TEST(Decoder, SharedKeysAndValuesEqualRepeatedOnes) {
    const auto grouped_config = small_llama();  // 4 query heads on 2
    auto full_config = grouped_config;
    full_config.kv_heads = full_config.heads;
    Decoder grouped(grouped_config, 1), full(full_config, 1);
    enlarge(grouped);
    at::NoGradGuard no_grad;
    for (const auto& parameter : shared_parameters(full_config))
        full.parameter(parameter.name).detach().copy_(grouped.parameter(parameter.name));
    for (int layer = 0; layer < full_config.layers; ++layer) {
        for (const auto& parameter : layer_parameters(full_config)) {
            const auto name = "layer" + std::to_string(layer) + "/" + parameter.name;
            auto from = grouped.parameter(name).detach();
            if (parameter.name == "key" || parameter.name == "value")
                from = from.view({2, 6, 12}).repeat_interleave(2, 0).reshape({24, 12});
            full.parameter(name).detach().copy_(from);
        }
    }
    const auto ids = random_ids(2, 8, grouped_config.vocabulary);
    EXPECT_LT(largest_difference(logits_of(grouped, ids), logits_of(full, ids)), 1e-5);
}

TEST(Decoder, Bfloat16IsNearFloat) {
    for (const auto& config : {small_llama(), small_gpt2()}) {
        Decoder decoder(config, 1);
        enlarge(decoder);
        const auto ids = random_ids(2, 8, config.vocabulary);
        const auto exact = logits_of(decoder, ids), rough = logits_of(decoder, ids, at::kBFloat16);
        ASSERT_EQ(rough.scalar_type(), at::kFloat);
        const double scale = exact.abs().max().item<double>();
        EXPECT_LT(largest_difference(exact, rough), 0.05 * scale);
        EXPECT_GT(largest_difference(exact, rough), 1e-5 * scale);  // it did compute in bfloat16
    }
}

TEST(Decoder, UniformLogitsCostTheLogarithmOfTheVocabulary) {
    auto config = small_llama();
    config.tied_embeddings = false;
    Decoder decoder(config, 1);
    at::NoGradGuard no_grad;
    decoder.parameter("output").detach().zero_();
    DenseFeedForward dense;
    const auto loss = decoder.loss(random_ids(2, 7, config.vocabulary), dense).item<double>();
    EXPECT_NEAR(loss, 2 * 6 * std::log(11.0), 1e-5);
}

TEST(Decoder, UnscoredPositionsCostNothing) {
    const auto config = small_llama();
    Decoder decoder(config, 1);
    enlarge(decoder);
    at::NoGradGuard no_grad;
    DenseFeedForward dense;
    const auto tokens = random_ids(2, 7, config.vocabulary);
    auto targets = tokens.narrow(1, 1, 6).clone();
    const auto all = decoder.loss(tokens, dense).item<double>();
    EXPECT_EQ(decoder.loss(tokens, dense, at::kFloat, targets).item<double>(), all);
    const auto surprise = at::log_softmax(decoder.logits(tokens.narrow(1, 0, 6), dense), -1)
                              .gather(2, targets.unsqueeze(2))
                              .squeeze(2)
                              .neg();
    targets.index_put_({at::tensor({0, 1}, at::kLong), at::tensor({2, 5}, at::kLong)},
                       at::scalar_tensor(-1, at::kLong));
    const double left = all - surprise[0][2].item<double>() - surprise[1][5].item<double>();
    EXPECT_NEAR(decoder.loss(tokens, dense, at::kFloat, targets).item<double>(), left, 1e-4);
}

TEST(Decoder, StartsAsAFunctionOfTheSeed) {
    const auto config = small_llama();
    Decoder first(config, 5), again(config, 5), other(config, 6);
    for (std::size_t b = 0; b < first.blocks().size(); ++b) {
        EXPECT_EQ(first.blocks()[b]->digest(), again.blocks()[b]->digest());
        EXPECT_NE(first.blocks()[b]->digest(), other.blocks()[b]->digest());
    }
    // Two layers of equal names must not start alike.
    EXPECT_FALSE(first.parameter("layer0/up").equal(first.parameter("layer1/up")));
}

TEST(Decoder, InitialScales) {
    DecoderConfig config;  // the toy
    Decoder decoder(config, 1);
    const auto deviation = [&](const char* name) {
        return decoder.parameter(name).detach().std().item<double>();
    };
    EXPECT_NEAR(deviation("token_embedding"), 0.02, 5e-4);
    EXPECT_NEAR(deviation("layer2/up"), 0.02, 5e-4);
    EXPECT_NEAR(deviation("layer2/down"), 0.02 / std::sqrt(8.0), 3e-4);
    EXPECT_NEAR(deviation("layer2/attention_out"), 0.02 / std::sqrt(8.0), 3e-4);
    EXPECT_TRUE(decoder.parameter("final_norm").equal(at::ones({128})));
}

TEST(Decoder, CountsItsParameters) {
    for (const auto& config :
         {small_llama(), small_qwen2(), small_qwen3(), small_gpt2(), DecoderConfig{}}) {
        Decoder decoder(config, 1);
        std::int64_t count = 0;
        for (const auto& block : decoder.blocks()) count += block->count();
        EXPECT_EQ(count, config.parameters());
    }
}

// Token by token over kept keys and values: the same as all at once.
TEST(Decoder, NextLogitsAreThoseOfTheWholeSequence) {
    for (const auto& config : {small_llama(), small_qwen2(), small_qwen3(), small_gpt2()}) {
        Decoder decoder(config, 1);
        enlarge(decoder);
        // Pairs that begin alike.
        auto whole = random_ids(3, 7, config.vocabulary).repeat_interleave(2, 0);
        whole.narrow(1, 3, 4).copy_(random_ids(6, 4, config.vocabulary, 2));
        Maps plain;
        const auto expected = decoder.logits(whole, plain);
        KeyValueCache cache(config, 7);
        auto logits = decoder.next_logits(whole.slice(0, 0, 6, 2).narrow(1, 0, 3), cache);
        cache.repeat(2);
        EXPECT_LT(largest_difference(logits.repeat_interleave(2, 0), expected.select(1, 2)), 1e-5);
        for (std::int64_t at = 3; at < 7; ++at) {
            EXPECT_EQ(cache.tokens(), at);
            logits = decoder.next_logits(whole.narrow(1, at, 1), cache);
            EXPECT_LT(largest_difference(logits, expected.select(1, at)), 1e-5) << at;
        }
        EXPECT_THROW(decoder.next_logits(whole.narrow(1, 0, 1), cache), std::invalid_argument);
    }
}

TEST(Decoder, WrittenAndReadBackGivesTheSameLogits) {
    const testing::TemporaryFolder folder;
    for (const auto& config : {small_llama(), small_qwen2(), small_qwen3(), small_gpt2()}) {
        Decoder decoder(config, 1);
        enlarge(decoder);
        const DecoderFile file = file_of(decoder, TensorType::f32);
        write_gguf(folder / "model.gguf", file.metadata, file.tensors);
        const auto again = Decoder::load(TensorFile(folder / "model.gguf"));
        EXPECT_EQ(again.config(), config);
        const auto ids = random_ids(2, 8, config.vocabulary);
        EXPECT_TRUE(at::equal(logits_of(decoder, ids), logits_of(again, ids)));
    }
}

TEST(Decoder, NextLogitsRefuseSeveralTokensBehindOthersAndMoreThanTheContext) {
    Decoder decoder(small_llama(), 1);
    const auto ids = random_ids(2, 8, decoder.config().vocabulary);
    KeyValueCache cache(decoder.config(), 20);
    decoder.next_logits(ids.narrow(1, 0, 5), cache);
    EXPECT_THROW(decoder.next_logits(ids.narrow(1, 0, 2), cache), std::invalid_argument);
    for (int i = 0; i < 3; ++i) decoder.next_logits(ids.narrow(1, i, 1), cache);
    EXPECT_THROW(decoder.next_logits(ids.narrow(1, 0, 1), cache), UserError);
}

TEST(Decoder, RefusesWhatItDoesNotHave) {
    Decoder decoder(small_llama(), 1);
    for (const char* name :
         {"output", "layer2/up", "layer/up", "layer0up", "layer0/bias", "layer0/"})
        EXPECT_THROW(decoder.parameter(name), std::out_of_range) << name;
    EXPECT_THROW(logits_of(decoder, random_ids(1, 9, 11)), UserError);
}

TEST(Decoder, FeedForwardNetworksCanBeReplaced) {
    struct Nothing : FeedForward {
        std::vector<int> layers;
        at::Tensor run(int layer, const at::Tensor& x, const FfnWeights& weights) override {
            layers.push_back(layer);
            EXPECT_EQ(x.scalar_type(), weights.up.scalar_type());
            EXPECT_EQ(weights.gate.sizes(), (std::vector<std::int64_t>{10, 12}));
            return at::zeros_like(x);
        }
    } nothing;
    Decoder decoder(small_llama(), 1);
    enlarge(decoder);
    at::NoGradGuard no_grad;
    const auto ids = random_ids(2, 8, 11);
    const auto without = decoder.logits(ids, nothing, at::kBFloat16);
    EXPECT_EQ(nothing.layers, (std::vector<int>{0, 1}));
    // The same as with all down projections zero.
    for (const char* name : {"layer0/down", "layer1/down"})
        decoder.parameter(name).detach().zero_();
    EXPECT_TRUE(without.equal(logits_of(decoder, ids, at::kBFloat16)));
}

TEST(Rotary, ScoresDependOnTheDistanceAlone) {
    const auto table = rotary_table(64, 8, 10000, at::TensorOptions().dtype(at::kDouble));
    const auto a = random_ids(1, 8, 100).to(at::kDouble).view({1, 1, 1, 8}),
               b = random_ids(1, 8, 100, 2).to(at::kDouble).view({1, 1, 1, 8});
    const auto rotated_a = rotate(a.expand({1, 64, 1, 8}), table).view({64, 8});
    const auto rotated_b = rotate(b.expand({1, 64, 1, 8}), table).view({64, 8});
    const auto scores = at::matmul(rotated_a, rotated_b.t());
    for (std::int64_t distance = 0; distance < 63; ++distance) {
        const auto equal = scores.diagonal(distance);
        EXPECT_LT((equal - equal[0]).abs().max().item<double>(), 1e-8);
        EXPECT_GT(std::abs((scores[0][distance + 1] - scores[0][distance]).item<double>()), 1e-3);
    }
    EXPECT_TRUE(rotated_a[0].equal(a.view({8})));
}

TEST(Rotary, TurnsHalvesAgainstEachOther) {
    // One head of width 4, position 1, base 100: frequencies 1 and 1/10.
    const auto table = rotary_table(2, 4, 100, at::TensorOptions().dtype(at::kDouble));
    const auto x = at::tensor({1.0, 2.0, 3.0, 4.0}, at::kDouble).expand({1, 2, 1, 4});
    const auto y = rotate(x, table).select(1, 1).reshape({4});
    const double c0 = std::cos(1.0), s0 = std::sin(1.0), c1 = std::cos(0.1), s1 = std::sin(0.1);
    const double expected[] = {c0 - 3 * s0, 2 * c1 - 4 * s1, 3 * c0 + s0, 4 * c1 + 2 * s1};
    for (int i = 0; i < 4; ++i) EXPECT_NEAR(y[i].item<double>(), expected[i], 1e-12);
}

TEST(Attention, EqualsItsDefinition) {
    const std::int64_t batch = 2, length = 5, heads = 4, shared = 2, width = 3;
    auto generator = at::make_generator<at::CPUGeneratorImpl>(4);
    const auto draw = [&](std::int64_t count) {
        return at::normal(0.0, 1.0, {batch, length, count, width}, generator,
                          at::TensorOptions().dtype(at::kDouble));
    };
    const auto q = draw(heads), k = draw(shared), v = draw(shared);
    const auto found = causal_attention(q, k, v).view({batch, length, heads, width});
    for (std::int64_t b = 0; b < batch; ++b)
        for (std::int64_t h = 0; h < heads; ++h)
            for (std::int64_t i = 0; i < length; ++i) {
                std::vector<double> weight;
                double total = 0;
                for (std::int64_t j = 0; j <= i; ++j) {
                    weight.push_back(std::exp(q[b][i][h].dot(k[b][j][h / 2]).item<double>() /
                                              std::sqrt(static_cast<double>(width))));
                    total += weight.back();
                }
                auto expected = at::zeros({width}, at::TensorOptions().dtype(at::kDouble));
                for (std::int64_t j = 0; j <= i; ++j)
                    expected += v[b][j][h / 2] * (weight[static_cast<std::size_t>(j)] / total);
                EXPECT_LT(largest_difference(found[b][i][h], expected), 1e-12);
            }
}

}  // namespace
}  // namespace assay::nn
