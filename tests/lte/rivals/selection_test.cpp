// Methods that choose neurons or experts: how many, which, and what the rest of the network sees.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "impls/lte/rivals/deja_vu.hpp"
#include "impls/lte/rivals/moefication.hpp"
#include "impls/lte/rivals/teal_and_cats.hpp"
#include "impls/lte/rivals/trained_routers.hpp"
#include "impls/nn/training/language_model.hpp"
#include "suite/base/error.hpp"
#include "tests/lte/rivals/small_models.hpp"

namespace assay::lte {
namespace {

constexpr int size = 32;  // neurons of an expert

TEST(UnitsKept, RoundsAndKeepsAtLeastOne) {
    EXPECT_EQ(units_kept(8, 0), 8);
    EXPECT_EQ(units_kept(8, 0.5), 4);
    EXPECT_EQ(units_kept(8, 0.9), 1);   // 0.8
    EXPECT_EQ(units_kept(8, 0.99), 1);  // 0.08, but one remains
    EXPECT_EQ(units_kept(3, 0.5), 2);   // 1.5: halves up
    EXPECT_EQ(units_kept(16, 0.47), 8);
    EXPECT_THROW(units_kept(8, 1), UserError);
    EXPECT_THROW(units_kept(8, -0.1), UserError);
}

TEST(Strongest, TakesTheLargestAndExactlyAsMany) {
    const auto scores = at::randn({50, 13});
    for (int count = 1; count <= 13; ++count) {
        const auto used = strongest(scores, count);
        for (int row = 0; row < 50; ++row) {
            std::vector<float> chosen, left;
            for (int i = 0; i < 13; ++i)
                (used[row][i].item<bool>() ? chosen : left).push_back(scores[row][i].item<float>());
            ASSERT_EQ(static_cast<int>(chosen.size()), count);
            if (!left.empty()) {
                EXPECT_GE(*std::min_element(chosen.begin(), chosen.end()),
                          *std::max_element(left.begin(), left.end()));
            }
        }
        // Ties change nothing about how many.
        EXPECT_TRUE(strongest(at::zeros({4, 13}), count).sum(1).eq(count).all().item<bool>());
    }
}

class Selection : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Shapes, Selection, testing::Values("gpt-tiny", "llama-tiny"));

TEST_P(Selection, CountsWhatWasAskedFor) {
    const auto decoder = lively_decoder(GetParam());
    const auto& config = decoder.config();
    for (const double sparsity : {0.0, 0.25, 0.5, 0.75, 0.9}) {
        const int experts = config.hidden / size;
        const int count = units_kept(experts, sparsity);
        DejaVuOptions options;
        options.steps = 2;
        options.sequences = 1;
        std::vector<std::pair<std::unique_ptr<SelectingFeedForward>, int>> methods;
        methods.emplace_back(expert_oracle(config.layers, size, count), count);
        methods.emplace_back(expert_oracle(config.layers, size, count, relu_hidden), count);
        methods.emplace_back(random_router(config, size, count, 3), count);
        methods.emplace_back(std::make_unique<TopKSoftmax>(config, size, count, 1, 3), count);
        methods.emplace_back(std::make_unique<SigmaMoe>(config, size, count, SigmaMoeOptions{}),
                             count);
        methods.emplace_back(deja_vu(decoder, short_text(), 1 - sparsity, options),
                             units_kept(config.hidden, sparsity));
        for (auto& [method, expected] : methods) {
            logits(decoder, *method);
            ASSERT_EQ(method->active().size(), 2U);
            for (const auto& used : method->active()) {
                EXPECT_EQ(used.scalar_type(), at::kBool);
                EXPECT_EQ(used.size(0), held_out_ids().numel());
                EXPECT_TRUE(used.sum(1).eq(expected).all().item<bool>()) << sparsity;
            }
        }
    }
}

TEST_P(Selection, OracleOfAllExpertsIsTheDenseModel) {
    const auto decoder = lively_decoder(GetParam());
    nn::DenseFeedForward dense;
    for (const int expert : {1, size}) {
        const auto all = expert_oracle(2, expert, decoder.config().hidden / expert);
        EXPECT_TRUE(at::equal(logits(decoder, dense), logits(decoder, *all)));
    }
}

TEST_P(Selection, OracleTakesTheExpertsWithTheLargestSums) {
    const auto decoder = lively_decoder(GetParam());
    const auto oracle = expert_oracle(2, size, 3);
    Onlooker compare([&](int layer, const at::Tensor& x, const nn::FfnWeights& weights) {
        oracle->run(layer, x, weights);
        const auto& used = oracle->active()[static_cast<std::size_t>(layer)];
        const auto hidden = nn::ffn_hidden(weights, x);
        for (int token = 0; token < 20; ++token) {
            double least_used = 1e30, most_left = 0;
            for (int expert = 0; expert < hidden.size(1) / size; ++expert) {
                double sum = 0;
                for (int i = 0; i < size; ++i)
                    sum += std::abs(hidden[token][expert * size + i].item<float>());
                if (used[token][expert].item<bool>())
                    least_used = std::min(least_used, sum);
                else
                    most_left = std::max(most_left, sum);
            }
            EXPECT_GT(least_used, most_left - 1e-6);
        }
    });
    logits(decoder, compare);
}

// What is not chosen has no effect: a network of the chosen neurons alone gives the same.
TEST_P(Selection, OutputIsThatOfTheChosenNeuronsAlone) {
    const auto decoder = lively_decoder(GetParam());
    const auto method = random_router(decoder.config(), size, 3, 9);
    Onlooker compare([&](int layer, const at::Tensor& x, const nn::FfnWeights& weights) {
        const auto whole = method->run(layer, x, weights);
        const auto& used = method->active()[static_cast<std::size_t>(layer)];
        for (int token = 0; token < 8; ++token) {
            const auto neurons = used[token].repeat_interleave(size).nonzero().squeeze(1);
            auto part = weights;
            if (part.gate.defined()) part.gate = weights.gate.index_select(0, neurons);
            part.up = weights.up.index_select(0, neurons);
            if (part.up_bias.defined()) part.up_bias = weights.up_bias.index_select(0, neurons);
            part.down = weights.down.index_select(1, neurons);
            const auto alone = nn::ffn_output(part, nn::ffn_hidden(part, x.narrow(0, token, 1)));
            EXPECT_LT((alone - whole.narrow(0, token, 1)).abs().max().item<double>(), 1e-4);
        }
    });
    logits(decoder, compare);
}

TEST(RandomRouter, IsAFunctionOfItsSeed) {
    const auto decoder = lively_decoder("gpt-tiny");
    const auto chosen = [&](std::uint64_t seed) {
        const auto method = random_router(decoder.config(), size, 4, seed);
        logits(decoder, *method);
        return at::cat(method->active());
    };
    EXPECT_TRUE(at::equal(chosen(1), chosen(1)));
    EXPECT_FALSE(at::equal(chosen(1), chosen(2)));
}

TEST(ReluSwap, IsTheReluOfWhatTheActivationIsOf) {
    nn::FfnWeights weights;
    weights.up = at::randn({6, 4});
    weights.up_bias = at::randn({6});
    const auto x = at::randn({3, 4});
    const auto plain = at::matmul(x, weights.up.t()) + weights.up_bias;
    EXPECT_TRUE(at::allclose(relu_hidden(weights, x), plain * (plain > 0)));
    weights.up_bias = at::Tensor();
    weights.gate = at::randn({6, 4});
    const auto gate = at::matmul(x, weights.gate.t());
    EXPECT_TRUE(
        at::allclose(relu_hidden(weights, x), gate * (gate > 0) * at::matmul(x, weights.up.t())));
}

/// `count` neurons drawn anew for each token.
class RandomMask : public SelectingFeedForward {
  public:
    explicit RandomMask(int count) : SelectingFeedForward(2), count_(count) {}

  protected:
    Choice choose(int, const at::Tensor&, const at::Tensor& hidden,
                  const nn::FfnWeights&) override {
        return {strongest(at::rand(hidden.sizes()), count_), {}};
    }

  private:
    int count_;
};

TEST(NeuronOracle, LosesNoMoreThanARandomMask) {
    const auto decoder = trained_decoder("gpt-tiny");
    const auto nll = [&](nn::FeedForward& ffn) {
        return nn::evaluate(decoder, ffn, short_text(), 16).nll_nats_per_token;
    };
    double before = 0;
    for (const double sparsity : {0.5, 0.75, 0.9}) {
        const int count = units_kept(decoder.config().hidden, sparsity);
        const auto oracle = expert_oracle(2, 1, count);
        RandomMask random(count);
        const double bound = nll(*oracle);
        EXPECT_LT(bound, nll(random)) << sparsity;
        EXPECT_GE(bound, before - 1e-2);  // fewer neurons, a larger loss
        before = bound;
    }
}

TEST(DejaVu, PredictsBetterThanChanceAndIsAFunctionOfItsSeed) {
    const auto decoder = trained_decoder("gpt-tiny");
    const double keep = 0.25;
    DejaVuOptions options;
    options.rank = 16;
    options.steps = 100;
    const auto method = deja_vu(decoder, short_text(), keep, options);
    const auto again = deja_vu(decoder, short_text(), keep, options);
    const int count = units_kept(decoder.config().hidden, 1 - keep);
    Onlooker compare([&](int layer, const at::Tensor& x, const nn::FfnWeights& weights) {
        method->run(layer, x, weights);
        again->run(layer, x, weights);
        const auto& predicted = method->active()[static_cast<std::size_t>(layer)];
        EXPECT_TRUE(at::equal(predicted, again->active()[static_cast<std::size_t>(layer)]));
        const auto truth = strongest(nn::ffn_hidden(weights, x).abs(), count);
        const double recall = (predicted & truth).sum().item<double>() / truth.sum().item<double>();
        EXPECT_GT(recall, 1.5 * keep);  // chance: keep
        // Better, too, than the same neurons for every token.
        const auto popular = strongest(truth.to(at::kFloat).mean(0, true), count);
        const double fixed = (popular & truth).sum().item<double>() / truth.sum().item<double>();
        EXPECT_GT(recall, fixed);
    });
    logits(decoder, compare);
}

}  // namespace
}  // namespace assay::lte
