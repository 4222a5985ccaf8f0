// Decoders of both shapes learn a small text, and a rate that is too high is noticed.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <cmath>

#include "impls/nn/text/vocabulary.hpp"
#include "impls/nn/training/language_model.hpp"
#include "suite/base/error.hpp"
#include "tests/nn/training/toy_text.hpp"

namespace assay::nn {
namespace {

DecoderConfig toy(Family family) {
    DecoderConfig config;
    config.family = family;
    config.activation = family == Family::gpt2 ? Activation::gelu : Activation::swiglu;
    config.layers = 2;
    config.width = 32;
    config.hidden = 64;
    config.heads = 4;
    config.kv_heads = 2;
    config.head_width = 8;
    config.context = 24;
    return config;
}

LanguageModelTraining quick(std::int64_t steps) {
    LanguageModelTraining training;
    training.options.steps = steps;
    training.options.learning_rate = 1e-2;
    training.sequences = 8;
    return training;
}

class Learning : public testing::TestWithParam<std::tuple<Family, at::ScalarType>> {};

TEST_P(Learning, AFewLinesByHeart) {
    at::set_num_threads(2);
    const auto config = toy(std::get<0>(GetParam()));
    const auto data = TokenData::from_text(sums(12), Tokenizer::bytes(), 0, config.context);
    Decoder decoder(config, 1);
    DenseFeedForward dense;
    auto training = quick(250);
    training.compute = std::get<1>(GetParam());
    NoState none;
    std::vector<double> curve;
    train_language_model("toy", decoder, dense, data, training, none,
                         [&](std::int64_t step, double nll) {
                             EXPECT_EQ(step, static_cast<std::int64_t>(curve.size()));
                             curve.push_back(nll);
                         });
    ASSERT_EQ(curve.size(), 250u);
    EXPECT_NEAR(curve.front(), std::log(256.0), 0.2);  // nothing known at first
    // The first bytes of a window cannot be known; the rest can.
    EXPECT_LT(curve.back(), 1.0);
}

INSTANTIATE_TEST_SUITE_P(Shapes, Learning,
                         testing::Combine(testing::Values(Family::llama, Family::gpt2),
                                          testing::Values(at::kFloat, at::kBFloat16)));

TEST(Evaluation, OfUniformLogits) {
    auto config = toy(Family::llama);
    config.tied_embeddings = false;
    Decoder decoder(config, 1);
    decoder.parameter("output").detach().zero_();
    DenseFeedForward dense;
    const auto data = TokenData::from_text(sums(200), Tokenizer::bytes(), 0.25, config.context);
    for (const int windows : {0, 7}) {
        const auto found = evaluate(decoder, dense, data, windows, 3);
        const auto all = (data.held_out_tokens() - 1) / config.context;
        EXPECT_EQ(found.windows, windows ? windows : all);
        EXPECT_EQ(found.tokens, found.windows * config.context);
        EXPECT_EQ(found.bytes, found.tokens);
        EXPECT_NEAR(found.nll_nats_per_token, std::log(256.0), 1e-5);
        EXPECT_NEAR(found.bits_per_byte, 8, 1e-5);
        EXPECT_NEAR(found.perplexity(), 256, 1e-2);
    }
}

TEST(Evaluation, IsTheMeanOfTheLossAndKeepsNoGraph) {
    const auto config = toy(Family::gpt2);
    Decoder decoder(config, 1);
    DenseFeedForward dense;
    const auto data = TokenData::from_text(sums(200), Tokenizer::bytes(), 0.25, config.context);
    double sum = 0;
    std::int64_t tokens = 0;
    for (const auto& batch : data.held_out_batches(1, 0)) {
        at::NoGradGuard no_grad;
        sum += decoder.loss(batch, dense).item<double>();
        tokens += config.context;
    }
    const auto found = evaluate(decoder, dense, data, 0);
    EXPECT_EQ(found.tokens, tokens);
    EXPECT_NEAR(found.nll_nats_per_token, sum / static_cast<double>(tokens), 1e-6);
}

TEST(Evaluation, TakesTheWindowsThereAreAndRefusesOnlyNone) {
    const auto config = toy(Family::llama);
    Decoder decoder(config, 1);
    DenseFeedForward dense;
    const auto data = TokenData::from_text(sums(50), Tokenizer::bytes(), 0.25, config.context);
    const auto all = (data.held_out_tokens() - 1) / config.context;
    ASSERT_GE(all, 2);
    const auto found = evaluate(decoder, dense, data, 1000);
    EXPECT_EQ(found.windows, all);
    EXPECT_EQ(found.nll_nats_per_token, evaluate(decoder, dense, data, 0).nll_nats_per_token);
    const auto none = TokenData::from_text(sums(50), Tokenizer::bytes(), 0, config.context);
    EXPECT_THROW(evaluate(decoder, dense, none, 4), UserError);
    EXPECT_THROW(evaluate(decoder, dense, none, 0), UserError);
}

// The letters a, b and the token "aab": tokens of one and of three bytes.
Tokenizer letters() {
    Vocabulary vocabulary;
    vocabulary.words = WordRule::whole;
    vocabulary.tokens = {{"a"}, {"b"}, {"aa"}, {"aab"}};
    vocabulary.merges = {{"a", "a"}, {"aa", "b"}};
    return Tokenizer(vocabulary);
}

TEST(Evaluation, BitsPerByteAreOverTheBytesOfTheScoredTokens) {
    auto config = toy(Family::llama);
    config.tied_embeddings = false;
    config.context = 2;
    config.vocabulary = 4;
    Decoder decoder(config, 1);
    decoder.parameter("output").detach().zero_();  // log 4 nats for each token
    DenseFeedForward dense;
    // Held out: [aab b b] [b aab aab] [aab b b], then aab behind the last
    // whole window. Scored: b b, aab aab, b b - ten bytes in six tokens, where the mean of the
    // whole part is 16 / 8.
    const auto data = TokenData::from_text("bbbbbbbbbbbbbbbbaabbbaabaabbbaab", letters(), 0.5, 2);
    ASSERT_EQ(data.held_out_tokens(), 8);
    const auto all = evaluate(decoder, dense, data, 0);
    EXPECT_EQ(all.windows, 3);
    EXPECT_EQ(all.tokens, 6);
    EXPECT_EQ(all.bytes, 2 * 1 + 2 * 3 + 2 * 1);
    EXPECT_NEAR(all.nll_nats_per_token, std::log(4.0), 1e-6);
    EXPECT_NEAR(all.bits_per_byte, 6 * 2.0 / 10, 1e-5);
    // Of two windows the first and the second are taken: eight bytes in four tokens.
    const auto two = evaluate(decoder, dense, data, 2);
    EXPECT_EQ(two.bytes, 2 * 1 + 2 * 3);
    EXPECT_NEAR(two.bits_per_byte, 4 * 2.0 / 8, 1e-5);
}

TEST(Divergence, OfARateThatIsTooHigh) {
    const auto config = toy(Family::llama);
    const auto data = TokenData::from_text(sums(50), Tokenizer::bytes(), 0, config.context);
    Decoder decoder(config, 1);
    DenseFeedForward dense;
    auto training = quick(60);
    training.options.learning_rate = 1e6;
    training.options.warmup = 0.5;  // the first ten steps are still good
    NoState none;
    EXPECT_THROW(train_language_model("toy", decoder, dense, data, training, none),
                 TrainingDiverged);
}

TEST(Divergence, OfANaNInTheWeights) {
    const auto config = toy(Family::llama);
    const auto data = TokenData::from_text(sums(50), Tokenizer::bytes(), 0, config.context);
    Decoder decoder(config, 1);
    DenseFeedForward dense;
    auto training = quick(30);
    NoState none;
    const auto poison = [&](std::int64_t step, double) {
        at::NoGradGuard no_grad;
        if (step == 11) decoder.parameter("layer1/up").detach()[3][4].fill_(std::nan(""));
    };
    try {
        train_language_model("toy", decoder, dense, data, training, none, poison);
        FAIL() << "went on";
    } catch (const TrainingDiverged& stop) {
        EXPECT_EQ(stop.step(), 12);
    }
}

}  // namespace
}  // namespace assay::nn
