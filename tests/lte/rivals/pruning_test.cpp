// Static pruning against plain loops.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "impls/lte/rivals/pruning.hpp"
#include "impls/lte/rivals/rival.hpp"
#include "suite/base/error.hpp"
#include "tests/lte/rivals/small_models.hpp"

namespace assay::lte {
namespace {

PruningPattern share(double s) { return {.n = 0, .m = 0, .share = s}; }

TEST(PruningPattern, IsReadOrRefused) {
    EXPECT_EQ(parse_pattern("2:4").n, 2);
    EXPECT_EQ(parse_pattern("2:4").m, 4);
    EXPECT_EQ(parse_pattern("3:8").share, 0.375);
    EXPECT_EQ(parse_pattern("0.25").share, 0.25);
    EXPECT_EQ(parse_pattern("0.25").m, 0);
    for (const char* bad :
         {"", "half", "4:4", "5:4", "-1:4", "2:", ":4", "2:4x", "1", "-0.1", "nan"})
        EXPECT_THROW(parse_pattern(bad), UserError) << bad;
}

// Wanda's score and comparison groups, with sorts of single rows.
TEST(Wanda, RemovesWhatPlainLoopsRemove) {
    constexpr int rows = 5, columns = 12, tokens = 7;
    const auto weight = at::randn({rows, columns}), inputs = at::randn({tokens, columns});
    for (const auto& pattern : {share(0.5), share(0.3), PruningPattern{2, 4, 0.5}}) {
        const auto removed = weights_to_remove(wanda_score(weight, inputs.norm(2, 0)), pattern);
        for (int r = 0; r < rows; ++r) {
            std::vector<double> score(columns);
            for (int c = 0; c < columns; ++c) {
                double square = 0;
                for (int t = 0; t < tokens; ++t) {
                    const double value = inputs[t][c].item<float>();
                    square += value * value;
                }
                score[static_cast<std::size_t>(c)] =
                    std::abs(weight[r][c].item<float>()) * std::sqrt(square);
            }
            const int group = pattern.m ? pattern.m : columns;
            const auto lowest = pattern.m ? pattern.n : std::lround(pattern.share * columns);
            for (int first = 0; first < columns; first += group) {
                std::vector<int> order(static_cast<std::size_t>(group));
                std::iota(order.begin(), order.end(), first);
                std::sort(order.begin(), order.end(), [&](int a, int b) {
                    return score[static_cast<std::size_t>(a)] < score[static_cast<std::size_t>(b)];
                });
                for (int i = 0; i < group; ++i)
                    EXPECT_EQ(removed[r][order[static_cast<std::size_t>(i)]].item<bool>(),
                              i < lowest);
            }
        }
    }
}

TEST(Wanda, IsMagnitudeWhenAllInputsAreAlike) {
    const auto weight = at::randn({16, 32});
    for (const auto& pattern : {share(0.5), share(0.75), PruningPattern{2, 4, 0.5}})
        EXPECT_TRUE(at::equal(weights_to_remove(wanda_score(weight, at::full({32}, 2.5)), pattern),
                              weights_to_remove(weight.abs(), pattern)));
    // And differs when they are not.
    EXPECT_FALSE(at::equal(weights_to_remove(wanda_score(weight, at::arange(32) + 0.1), share(0.5)),
                           weights_to_remove(weight.abs(), share(0.5))));
}

TEST(WeightsToRemove, TakesTheFirstOfEqualsAndRoundsTheShare) {
    const auto removed = weights_to_remove(at::ones({1, 5}), share(0.5));  // 2.5: to 3
    EXPECT_TRUE(at::equal(removed, at::tensor({1, 1, 1, 0, 0}).to(at::kBool).unsqueeze(0)));
    EXPECT_EQ(weights_to_remove(at::ones({1, 5}), share(0)).sum().item<int>(), 0);
    EXPECT_THROW(weights_to_remove(at::ones({2, 6}), {2, 4, 0.5}), UserError);
}

class Pruning : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Shapes, Pruning, testing::Values("gpt-tiny", "llama-tiny"));

template <class Check>
void each_matrix(const nn::Decoder& decoder, const Check& check) {
    for (int layer = 0; layer < decoder.config().layers; ++layer) {
        const auto weights = decoder.ffn(layer);
        for (const auto& matrix : {weights.gate, weights.up, weights.down})
            if (matrix.defined()) check(matrix);
    }
}

TEST_P(Pruning, PatternsAreExactInEveryGroup) {
    for (const auto& text : {"2:4", "4:8", "1:4"}) {
        const auto pattern = parse_pattern(text);
        auto by_magnitude = lively_decoder(GetParam()), by_wanda = lively_decoder(GetParam());
        EXPECT_DOUBLE_EQ(prune_by_magnitude(by_magnitude, pattern), pattern.share);
        EXPECT_DOUBLE_EQ(prune_by_wanda(by_wanda, pattern, short_text(), 4), pattern.share);
        for (const auto* decoder : {&by_magnitude, &by_wanda})
            each_matrix(*decoder, [&](const at::Tensor& matrix) {
                const auto zeros = (matrix == 0).view({-1, pattern.m}).sum(1);
                EXPECT_TRUE(zeros.eq(pattern.n).all().item<bool>()) << text;
            });
    }
}

TEST_P(Pruning, SharesAreExactInEveryRow) {
    for (const double s : {0.0, 0.3, 0.5, 0.75}) {
        auto by_magnitude = lively_decoder(GetParam()), by_wanda = lively_decoder(GetParam());
        EXPECT_NEAR(prune_by_magnitude(by_magnitude, share(s)), s, 0.01);
        EXPECT_NEAR(prune_by_wanda(by_wanda, share(s), short_text(), 4), s, 0.01);
        for (const auto* decoder : {&by_magnitude, &by_wanda})
            each_matrix(*decoder, [&](const at::Tensor& matrix) {
                const auto zeros = (matrix == 0).sum(1);
                EXPECT_TRUE(zeros.eq(std::llround(s * matrix.size(1))).all().item<bool>());
            });
    }
}

// Each layer's norms are those behind the layers already pruned, before it is pruned itself.
TEST_P(Pruning, WandaGoesLayerAfterLayer) {
    auto pruned = lively_decoder(GetParam()), reference = lively_decoder(GetParam());
    prune_by_wanda(pruned, share(0.5), short_text(), 4);
    const at::NoGradGuard no_grad;
    for (int layer = 0; layer < 2; ++layer) {
        const auto weights = reference.ffn(layer);
        at::Tensor inputs, hidden;
        Onlooker note([&](int at, const at::Tensor& x, const nn::FfnWeights& whole) {
            if (at != layer) return;
            inputs = x.norm(2, 0);
            hidden = nn::ffn_hidden(whole, x).norm(2, 0);
        });
        pass_training_text(reference, note, short_text(), 4);
        const auto remove = [&](const at::Tensor& matrix, const at::Tensor& norms) {
            if (matrix.defined())
                matrix.detach().masked_fill_(
                    weights_to_remove(wanda_score(matrix, norms), share(0.5)), 0);
        };
        remove(weights.gate, inputs);
        remove(weights.up, inputs);
        remove(weights.down, hidden);
    }
    for (std::size_t block = 0; block < pruned.blocks().size(); ++block)
        EXPECT_TRUE(
            at::equal(pruned.blocks()[block]->values(), reference.blocks()[block]->values()));
}

}  // namespace
}  // namespace assay::lte
