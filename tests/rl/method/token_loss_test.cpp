// The loss of tokens: values by hand, gradients by central differences, what must not change it.
#include "impls/rl/method/token_loss.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <stdexcept>

#include "suite/base/error.hpp"

namespace assay::rl {
namespace {

using ::testing::HasSubstr;

/// One sequence whose tokens have these ratios.
LossRows with_ratios(const std::vector<double>& ratios, double advantage) {
    LossRows rows{.now = {{}}, .old = {{}}, .advantages = {advantage}};
    for (const double ratio : ratios) {
        rows.old[0].push_back(-5);
        rows.now[0].push_back(-5 + std::log(ratio));
    }
    return rows;
}

/// Three sequences of different lengths, one of them empty, some tokens not scored.
LossRows random_rows(std::mt19937& random) {
    std::uniform_real_distribution<double> log_probability(-3, -1), step(-0.6, 0.6);
    std::normal_distribution<double> advantage;
    LossRows rows;
    for (const std::size_t length : {4U, 0U, 7U, 1U}) {
        for (auto* lists : {&rows.now, &rows.old, &rows.reference}) lists->emplace_back();
        rows.scored.emplace_back();
        for (std::size_t t = 0; t < length; ++t) {
            rows.old.back().push_back(log_probability(random));
            rows.now.back().push_back(rows.old.back().back() + step(random));
            rows.reference.back().push_back(rows.old.back().back() + step(random));
            rows.scored.back().push_back(t % 3 != 2);
        }
        rows.advantages.push_back(2 * advantage(random));
    }
    return rows;
}

/// All ways to put a loss together.
std::vector<LossSettings> many_settings() {
    std::vector<LossSettings> all;
    for (const Aggregate aggregate : values_of<Aggregate>)
        for (const double dual_clip : {0.0, 1.5})
            for (const double coefficient : {0.0, 0.3})
                for (const KlEstimator estimator : values_of<KlEstimator>) {
                    LossSettings settings{.clip_low = 0.2,
                                          .clip_high = 0.28,
                                          .aggregate = aggregate,
                                          .max_tokens = 9};
                    if (dual_clip > 0) settings.dual_clip = dual_clip;
                    if (coefficient > 0)
                        settings.kl = KlPenalty{.estimator = estimator, .coefficient = coefficient};
                    all.push_back(settings);
                }
    return all;
}

/// How near the ratio is to where the loss has a kink.
double distance_to_kink(double ratio, const LossSettings& settings) {
    return std::min({std::abs(ratio - 1 + settings.clip_low),
                     std::abs(ratio - 1 - settings.clip_high),
                     std::abs(ratio - settings.dual_clip.value_or(10))});
}

TEST(TokenLoss, ByHand) {
    // Ratios 1.5, 0.5, 1.5, 0.5; advantages +2 and −2; clipped to 0.8 … 1.3.
    LossRows rows = with_ratios({1.5, 0.5}, 2);
    rows.now.push_back(rows.now[0]);
    rows.old.push_back(rows.old[0]);
    rows.advantages.push_back(-2);
    const LossSettings settings{.clip_low = 0.2, .clip_high = 0.3};
    const TokenLoss found = token_loss(rows, settings);
    EXPECT_NEAR(found.loss, (-2.6 - 1.0 + 3.0 + 1.6) / 4, 1e-12);
    EXPECT_EQ(found.gradient[0][0], 0);
    EXPECT_NEAR(found.gradient[0][1], -1.0 / 4, 1e-12);
    EXPECT_NEAR(found.gradient[1][0], 3.0 / 4, 1e-12);
    EXPECT_EQ(found.gradient[1][1], 0);
    EXPECT_EQ(found.clipped_share, 0.5);
    EXPECT_EQ(found.kl, 0);
}

TEST(TokenLoss, DualClipBoundsWhatIsUnlikelyAndBad) {
    LossSettings settings{.dual_clip = 3};
    const TokenLoss bad = token_loss(with_ratios({5, 2, 0.5}, -2), settings);
    EXPECT_NEAR(bad.loss, (6.0 + 4.0 + 1.6) / 3, 1e-12);
    EXPECT_EQ(bad.gradient[0][0], 0);
    EXPECT_NEAR(bad.gradient[0][1], 4.0 / 3, 1e-12);
    EXPECT_NEAR(bad.clipped_share, 1.0 / 3, 1e-12);  // 0.5 alone: the dual clip does not count
    const LossRows good = with_ratios({5, 2, 0.5}, 2);
    const TokenLoss with = token_loss(good, settings);
    settings.dual_clip.reset();
    EXPECT_EQ(with.loss, token_loss(good, settings).loss);
}

TEST(TokenLoss, TiesAreUnclipped) {
    const LossRows rows = with_ratios({1}, 2), bad = with_ratios({1}, -2);
    const LossSettings none{.clip_low = 0, .clip_high = 0};
    EXPECT_EQ(token_loss(rows, none).gradient[0][0], -2);
    EXPECT_EQ(token_loss(bad, none).gradient[0][0], 2);
    EXPECT_EQ(token_loss(rows, none).clipped_share, 0);
    const LossSettings dual{.dual_clip = 1};  // ratio 1 costs just what is the most
    EXPECT_EQ(token_loss(bad, dual).gradient[0][0], 2);
    EXPECT_EQ(token_loss(bad, dual).loss, 2);
}

TEST(TokenLoss, WithTheOldLogProbabilitiesItIsReinforce) {
    LossRows rows{.now = {{-1, -2}, {-0.5}}, .old = {{-1, -2}, {-0.5}}, .advantages = {1.5, -0.5}};
    const TokenLoss found = token_loss(rows, {});
    EXPECT_NEAR(found.gradient[0][0], -1.5 / 3, 1e-15);
    EXPECT_NEAR(found.gradient[0][1], -1.5 / 3, 1e-15);
    EXPECT_NEAR(found.gradient[1][0], 0.5 / 3, 1e-15);
    EXPECT_EQ(found.clipped_share, 0);
}

TEST(TokenLoss, DivergencesByHand) {
    LossRows rows{.now = {{-1, -1}},
                  .old = {{-1, -1}},
                  .reference = {{-1 + std::log(2.0), -1 - std::log(4.0)}},
                  .advantages = {0}};
    const double ln2 = std::log(2.0);
    LossSettings settings{.kl = KlPenalty{.estimator = KlEstimator::k1, .coefficient = 0.5}};
    const TokenLoss k1 = token_loss(rows, settings);
    EXPECT_NEAR(k1.kl, (-ln2 + 2 * ln2) / 2, 1e-12);
    EXPECT_NEAR(k1.loss, 0.5 * k1.kl, 1e-12);
    EXPECT_NEAR(k1.gradient[0][1], 0.25, 1e-12);
    settings.kl->estimator = KlEstimator::k3;
    const TokenLoss k3 = token_loss(rows, settings);
    EXPECT_NEAR(k3.kl, ((2 - ln2 - 1) + (0.25 + 2 * ln2 - 1)) / 2, 1e-12);
    EXPECT_NEAR(k3.loss, 0.5 * k3.kl, 1e-12);
    EXPECT_NEAR(k3.gradient[0][0], 0.25 * (1 - 2), 1e-12);
    EXPECT_NEAR(k3.gradient[0][1], 0.25 * (1 - 0.25), 1e-12);
    settings.kl->coefficient = 0;
    EXPECT_EQ(token_loss(rows, settings).kl, k3.kl);
    EXPECT_EQ(token_loss(rows, settings).loss, 0);
}

TEST(TokenLoss, GradientsAreThoseOfDifferences) {
    std::mt19937 random(7);
    constexpr double step = 1e-6;
    int clipped = 0, compared = 0;
    for (const LossSettings& settings : many_settings())
        for (int repeat = 0; repeat < 5; ++repeat) {
            LossRows rows = random_rows(random);
            const TokenLoss found = token_loss(rows, settings);
            clipped += found.clipped_share > 0;
            ASSERT_EQ(found.gradient.size(), rows.now.size());
            for (std::size_t s = 0; s < rows.now.size(); ++s) {
                ASSERT_EQ(found.gradient[s].size(), rows.now[s].size());
                for (std::size_t t = 0; t < rows.now[s].size(); ++t) {
                    const double ratio = std::exp(rows.now[s][t] - rows.old[s][t]);
                    if (distance_to_kink(ratio, settings) < 1e-4) continue;
                    const double at = rows.now[s][t];
                    rows.now[s][t] = at + step;
                    const double above = token_loss(rows, settings).loss;
                    rows.now[s][t] = at - step;
                    const double below = token_loss(rows, settings).loss;
                    rows.now[s][t] = at;
                    EXPECT_NEAR(found.gradient[s][t], (above - below) / (2 * step), 1e-8);
                    ++compared;
                }
            }
        }
    EXPECT_GT(clipped, 50);
    EXPECT_GT(compared, 1000);
}

TEST(TokenLoss, Aggregates) {
    // Losses 1 and 2, then 4: with a negative advantage large ratios are not clipped.
    LossRows rows = with_ratios({1, 2}, -1);
    rows.now.push_back(with_ratios({4}, -1).now[0]);
    rows.old.push_back({-5});
    rows.now.emplace_back();
    rows.old.emplace_back();
    rows.advantages = {-1, -1, -1};
    const auto loss = [&](Aggregate aggregate) {
        return token_loss(rows, {.aggregate = aggregate, .max_tokens = 5}).loss;
    };
    EXPECT_NEAR(loss(Aggregate::token), 7.0 / 3, 1e-12);
    EXPECT_NEAR(loss(Aggregate::sequence), (1.5 + 4) / 2, 1e-12);  // the empty one is none
    EXPECT_NEAR(loss(Aggregate::constant), 7.0 / (3 * 5), 1e-12);  // here it is one
}

TEST(TokenLoss, WhatIsNotScoredChangesNothing) {
    std::mt19937 random(8);
    for (const LossSettings& settings : many_settings()) {
        const LossRows rows = random_rows(random);
        LossRows without = rows;
        for (std::size_t s = 0; s < rows.now.size(); ++s)
            for (std::size_t t = rows.now[s].size(); t-- > 0;)
                if (!rows.scored[s][t])
                    for (auto* lists : {&without.now, &without.old, &without.reference})
                        (*lists)[s].erase((*lists)[s].begin() + static_cast<std::ptrdiff_t>(t));
        without.scored.clear();
        const TokenLoss found = token_loss(rows, settings), less = token_loss(without, settings);
        EXPECT_EQ(found.loss, less.loss);
        EXPECT_EQ(found.clipped_share, less.clipped_share);
        EXPECT_EQ(found.kl, less.kl);
        for (std::size_t s = 0; s < rows.now.size(); ++s) {
            std::vector<double> scored;
            for (std::size_t t = 0; t < rows.now[s].size(); ++t) {
                if (rows.scored[s][t])
                    scored.push_back(found.gradient[s][t]);
                else
                    EXPECT_EQ(found.gradient[s][t], 0);
            }
            EXPECT_EQ(scored, less.gradient[s]);
        }
    }
}

TEST(TokenLoss, TheOrderOfSequencesIsFree) {
    std::mt19937 random(9);
    for (const LossSettings& settings : many_settings()) {
        const LossRows rows = random_rows(random);
        LossRows turned = rows;
        for (auto* lists : {&turned.now, &turned.old, &turned.reference})
            std::reverse(lists->begin(), lists->end());
        std::reverse(turned.scored.begin(), turned.scored.end());
        std::reverse(turned.advantages.begin(), turned.advantages.end());
        TokenLoss found = token_loss(rows, settings), other = token_loss(turned, settings);
        EXPECT_NEAR(found.loss, other.loss, 1e-12);
        std::reverse(other.gradient.begin(), other.gradient.end());
        EXPECT_EQ(found.gradient, other.gradient);
    }
}

TEST(TokenLoss, FarRatiosThatCountForNothingDoNoHarm) {
    LossRows rows{.now = {{0}}, .old = {{-1000}}, .advantages = {1}};  // the ratio is infinite
    EXPECT_NEAR(token_loss(rows, {}).loss, -1.2, 1e-12);
    EXPECT_EQ(token_loss(rows, {}).gradient[0][0], 0);
    const LossRows never{.now = {{-1000}}, .old = {{0}}, .advantages = {1}};  // here it is 0
    EXPECT_FALSE(std::signbit(token_loss(never, {}).loss));
    EXPECT_FALSE(std::signbit(token_loss(never, {}).gradient[0][0]));
    rows.advantages = {0};
    EXPECT_EQ(token_loss(rows, {}).loss, 0);
    rows.advantages = {-2};
    EXPECT_EQ(token_loss(rows, {.dual_clip = 3}).loss, 6);
    try {
        token_loss(rows, {});
        ADD_FAILURE() << "nothing was thrown";
    } catch (const UserError& error) {
        EXPECT_THAT(error.what(), HasSubstr("sequence 1, token 1"));
    }
}

TEST(TokenLoss, ListsThatDoNotFitAreRefused) {
    const LossRows right{.now = {{-1, -1}}, .old = {{-1, -1}}, .advantages = {1}};
    const auto refused = [&](const std::function<void(LossRows&, LossSettings&)>& spoil) {
        LossRows rows = right;
        LossSettings settings;
        spoil(rows, settings);
        EXPECT_THROW(token_loss(rows, settings), std::invalid_argument);
    };
    EXPECT_NO_THROW(token_loss(right, {}));
    refused([](LossRows& rows, LossSettings&) { rows.old[0].pop_back(); });
    refused([](LossRows& rows, LossSettings&) { rows.old.pop_back(); });
    refused([](LossRows& rows, LossSettings&) { rows.advantages.push_back(1); });
    refused([](LossRows& rows, LossSettings&) { rows.reference = {{-1}}; });
    refused([](LossRows& rows, LossSettings&) { rows.scored = {{true}}; });
    refused([](LossRows& rows, LossSettings&) { rows.scored = {{false, false}}; });
    refused([](LossRows& rows, LossSettings&) { rows = {}; });
    refused([](LossRows&, LossSettings& settings) { settings.kl = KlPenalty{}; });
    refused([](LossRows&, LossSettings& settings) { settings.aggregate = Aggregate::constant; });
}

}  // namespace
}  // namespace assay::rl
