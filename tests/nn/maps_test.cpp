// How a decoder uses its parameters can be replaced: what the hooks see, frozen blocks, adapters.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "impls/nn/lora.hpp"
#include "impls/nn/training/row_batch.hpp"
#include "tests/nn/small_decoders.hpp"

namespace assay::nn {
namespace {

class Watching : public Maps {
  public:
    std::multiset<std::string> seen;
    at::Tensor linear(const Place& place, const at::Tensor& x, const at::Tensor& weight,
                      const at::Tensor& bias) override {
        note(place);
        EXPECT_EQ(x.size(1), weight.size(1));
        return Maps::linear(place, x, weight, bias);
    }
    at::Tensor norm(const Place& place, const at::Tensor& x, const NormWeights& weights) override {
        note(place);
        return Maps::norm(place, x, weights);
    }
    at::Tensor embed(const Place& place, const at::Tensor& table, const at::Tensor& ids,
                     at::ScalarType type) override {
        note(place);
        return Maps::embed(place, table, ids, type);
    }
    at::Tensor add_positions(const Place& place, const at::Tensor& x,
                             const at::Tensor& table) override {
        note(place);
        return Maps::add_positions(place, x, table);
    }

  private:
    void note(const Place& place) {
        seen.insert((place.layer < 0 ? "" : "layer" + std::to_string(place.layer) + "/") +
                    std::string(place.name));
    }
};

// Every parameter but biases passes once, the table of a tied head as "output" once more.
TEST(Maps, SeeEveryUseOfEveryParameter) {
    for (const auto& config : {small_llama(), small_qwen2(), small_qwen3(), small_gpt2()}) {
        const Decoder decoder(config, 3);
        Watching maps;
        DenseFeedForward dense;
        const auto ids = random_ids(2, 5, config.vocabulary);
        const auto seen = decoder.logits(ids, maps);
        EXPECT_TRUE(at::equal(seen, decoder.logits(ids, dense)));  // bit for bit the same model
        std::multiset<std::string> expected{"output"};
        for (const auto& parameter : shared_parameters(config))
            if (!parameter.name.ends_with("_bias")) expected.insert(parameter.name);
        for (int layer = 0; layer < config.layers; ++layer)
            for (const auto& parameter : layer_parameters(config))
                if (!parameter.name.ends_with("_bias"))
                    expected.insert("layer" + std::to_string(layer) + "/" + parameter.name);
        EXPECT_EQ(maps.seen, expected);
    }
}

TEST(Maps, TokenLossesAddUpToTheLoss) {
    const Decoder decoder(small_llama(), 3);
    const auto tokens = random_ids(3, 7, 11);
    auto targets = tokens.narrow(1, 1, 6).clone();
    targets.narrow(1, 0, 2).fill_(-1);
    DenseFeedForward dense;
    Maps plain;
    const auto losses = decoder.token_losses(tokens, plain, targets);
    EXPECT_EQ(losses.narrow(1, 0, 2).abs().sum().item<double>(), 0);
    EXPECT_NEAR(losses.sum().item<double>(),
                decoder.loss(tokens, dense, at::kFloat, targets).item<double>(), 1e-4);
}

TEST(FrozenBlocks, AskForNoGradientAndKeepNone) {
    Decoder decoder(small_llama(), 3);
    decoder.blocks()[1]->freeze();
    EXPECT_TRUE(decoder.blocks()[1]->frozen());
    EXPECT_EQ(decoder.blocks()[1]->grad().numel(), 0);
    EXPECT_FALSE(decoder.blocks()[2]->frozen());
    Maps plain;
    const auto tokens = random_ids(2, 6, 11);
    decoder.token_losses(tokens, plain, tokens.narrow(1, 1, 5)).sum().backward();
    EXPECT_FALSE(decoder.parameter("layer0/up").grad().defined());
    EXPECT_GT(decoder.blocks()[2]->grad().abs().max().item<double>(), 0);
}

TEST(LoraTest, StartsAsTheModelAndLearnsBesideIt) {
    Decoder decoder(small_llama(), 3);
    enlarge(decoder);
    Maps plain;
    const auto tokens = random_ids(2, 6, 11);
    const auto ids = tokens.narrow(1, 0, 5);
    const auto before = decoder.logits(ids, plain).detach();
    Lora lora(decoder, {.rank = 3, .alpha = 6, .dropout = 0, .seed = 5});
    EXPECT_TRUE(at::equal(decoder.logits(ids, *lora.over(plain)), before));

    const auto loss = [&] {
        const auto maps = lora.over(plain);
        return decoder.token_losses(tokens, *maps, tokens.narrow(1, 1, 5)).sum();
    };
    const double first = loss().item<double>();
    for (int step = 1; step <= 10; ++step) {
        for (auto& block : lora.blocks()) block->zero_grad();
        loss().backward();
        for (auto& block : lora.blocks()) adam_update(*block, step, {.learning_rate = 1e-2});
    }
    EXPECT_LT(loss().item<double>(), first);
    const auto tuned = decoder.logits(ids, *lora.over(plain)).detach();
    EXPECT_GT(largest_difference(tuned, before), 1e-3);
    EXPECT_TRUE(at::equal(decoder.logits(ids, plain), before));  // nothing but adapters moved

    lora.merge();
    EXPECT_LT(largest_difference(decoder.logits(ids, plain), tuned), 1e-4);
    EXPECT_LT(largest_difference(decoder.logits(ids, *lora.over(plain)), tuned), 1e-4);
}

// With W' = W + s·B·A, the gradients of A and B are s·Bᵀ·G and s·G·Aᵀ of the gradient G of W'.
TEST(LoraTest, GradientsAreThoseOfTheMergedWeights) {
    Decoder decoder(small_llama(), 3), merged(small_llama(), 3);
    enlarge(decoder);
    enlarge(merged);
    constexpr double scale = 2;
    const LoraOptions options{.rank = 3, .alpha = 3 * scale, .dropout = 0, .seed = 5};
    Lora lora(decoder, options);
    const auto names = layer_parameters(decoder.config());
    {
        at::NoGradGuard no_grad;
        for (auto& block : lora.blocks())
            block->values().add_(at::linspace(-0.1, 0.1, block->count()));
        for (int layer = 0; layer < decoder.config().layers; ++layer)
            for (const auto& [name, shape] : names)
                if (shape.size() == 2)
                    merged.parameter("layer" + std::to_string(layer) + "/" + name)
                        .detach()
                        .add_(
                            at::mm(lora.adapter(layer, name, 'b'), lora.adapter(layer, name, 'a')),
                            scale);
    }
    Maps plain;
    const auto tokens = random_ids(2, 6, 11);
    const auto targets = tokens.narrow(1, 1, 5);
    const auto maps = lora.over(plain);
    decoder.token_losses(tokens, *maps, targets).sum().backward();
    merged.token_losses(tokens, plain, targets).sum().backward();
    for (int layer = 0; layer < decoder.config().layers; ++layer)
        for (const auto& [name, shape] : names) {
            if (shape.size() != 2) continue;
            const auto& weight = merged.parameter("layer" + std::to_string(layer) + "/" + name);
            const auto a = lora.adapter(layer, name, 'a').detach(),
                       b = lora.adapter(layer, name, 'b').detach();
            const auto of_a = scale * at::mm(b.t(), weight.grad());
            const auto of_b = scale * at::mm(weight.grad(), a.t());
            EXPECT_LT(largest_difference(lora.adapter(layer, name, 'a').grad(), of_a),
                      1e-4 * of_a.abs().max().item<double>())
                << name;
            EXPECT_LT(largest_difference(lora.adapter(layer, name, 'b').grad(), of_b),
                      1e-4 * of_b.abs().max().item<double>())
                << name;
        }
    lora.merge();
    for (int layer = 0; layer < decoder.config().layers; ++layer)
        for (const auto& [name, shape] : names) {
            const std::string full = "layer" + std::to_string(layer) + "/" + name;
            EXPECT_LT(largest_difference(decoder.parameter(full).detach(),
                                         merged.parameter(full).detach()),
                      1e-6)
                << full;
        }
}

TEST(LoraTest, DropoutIsAFunctionOfTheStep) {
    Decoder decoder(small_llama(), 3);
    enlarge(decoder);
    Lora lora(decoder, {.rank = 3, .alpha = 6, .dropout = 0.5, .seed = 5});
    {
        at::NoGradGuard no_grad;
        for (auto& block : lora.blocks()) block->values().fill_(0.1);
    }
    Maps plain;
    const auto ids = random_ids(2, 6, 11);
    const auto at_step = [&](std::int64_t step) {
        return decoder.logits(ids, *lora.over(plain, step)).detach();
    };
    EXPECT_TRUE(at::equal(at_step(4), at_step(4)));
    EXPECT_FALSE(at::equal(at_step(4), at_step(5)));
    EXPECT_FALSE(at::equal(at_step(4), at_step(-1)));
}

TEST(RowBatches, ArePaddedAndMasked) {
    const std::vector<ScoredRow> rows{{{1, 2, 3}, {false, false, true}},
                                      {{4, 5, 6, 7}, {true, true, false, true}}};
    const RowBatch batch = batch_of(rows);
    EXPECT_EQ(batch.scored_tokens, (std::vector<std::int64_t>{1, 2}));
    EXPECT_TRUE(
        at::equal(batch.tokens, at::tensor({1, 2, 3, 0, 4, 5, 6, 7}, at::kLong).view({2, 4})));
    EXPECT_TRUE(
        at::equal(batch.targets, at::tensor({-1, 3, -1, 5, -1, 7}, at::kLong).view({2, 3})));
}

// Padding and companions change nothing: a row is worth what it is worth alone.
TEST(RowBatches, EvaluationIsOfEachRowByItself) {
    Decoder decoder(small_llama(), 3);
    enlarge(decoder);
    const std::vector<ScoredRow> rows{{{1, 2, 3}, {false, false, true}},
                                      {{4, 5, 6, 7, 8}, {false, true, true, false, true}}};
    Maps plain;
    double sum = 0;
    for (const ScoredRow& row : rows) {
        const auto alone = evaluate_rows(decoder, plain, std::span(&row, 1));
        sum += alone.nll_nats_per_token * static_cast<double>(alone.tokens);
    }
    const auto all = evaluate_rows(decoder, plain, rows);
    EXPECT_EQ(all.tokens, 4);
    EXPECT_NEAR(all.nll_nats_per_token, sum / 4, 1e-5);
    // A row whose answers are what the model would say is exact.
    ScoredRow said{{1, 2, 0}, {false, false, true}};
    said.tokens[2] =
        static_cast<int>(decoder.logits(at::tensor({1, 2}, at::kLong).view({1, 2}), plain)[0][1]
                             .argmax()
                             .item<std::int64_t>());
    EXPECT_EQ(evaluate_rows(decoder, plain, std::span(&said, 1)).exact_rows, 1);
    said.tokens[2] = (said.tokens[2] + 1) % 11;
    EXPECT_EQ(evaluate_rows(decoder, plain, std::span(&said, 1)).exact_rows, 0);
}

}  // namespace
}  // namespace assay::nn
