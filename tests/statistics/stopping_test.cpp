// The rule that ends an adaptive run: exact error, simulated error, and how many rounds it takes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "suite/measure/statistics/stopping.hpp"

namespace assay::stopping {
namespace {

using Draw = std::function<double(std::mt19937_64&)>;  ///< one measurement of a machine at rest

double normal(std::mt19937_64& random, double sd) {
    return std::normal_distribution<double>(0, sd)(random);
}
/// Noise of 3 %.
double steady(std::mt19937_64& random) { return std::exp(normal(random, 0.03)); }
/// Most runs alike, some much longer.
double skewed(std::mt19937_64& random) { return 1 + std::exp(normal(random, 1)) * 0.03; }
/// Two kinds of memory placement, 13 % apart.
double bimodal(std::mt19937_64& random) {
    return (random() % 2 == 0 ? 1.0 : 1.13) * std::exp(normal(random, 0.002));
}

struct Measured {
    Answer answer;
    int rounds = 0;
};
/// B is `factor` times A. Goes on as an adaptive run does.
Measured adaptive(const Stopping& rule, const Draw& draw, double factor, double margin,
                  std::mt19937_64& random) {
    Question question{{}, margin};
    for (int rounds = 1;; ++rounds) {
        question.ratios.push_back(pair_ratio(draw(random), factor * draw(random)));
        const Answer answer = rule.answer(question);
        if (rule.next(std::span(&answer, 1), rounds, 1e9) != Stopping::Next::go_on)
            return {answer, rounds};
    }
}
double share_of(const std::vector<Measured>& runs, Standing standing) {
    const auto count = std::count_if(runs.begin(), runs.end(), [&](const Measured& run) {
        return run.answer.standing == standing;
    });
    return static_cast<double>(count) / static_cast<double>(runs.size());
}
double alarms(const std::vector<Measured>& runs) {
    return share_of(runs, Standing::above) + share_of(runs, Standing::below);
}
std::vector<Measured> many(const Stopping& rule, const Draw& draw, double factor, double margin,
                           int count = 2000) {
    std::mt19937_64 random(20261121);
    std::vector<Measured> runs;
    for (int i = 0; i < count; ++i) runs.push_back(adaptive(rule, draw, factor, margin, random));
    return runs;
}

TEST(MedianSequence, SevenValuesAreTheFewestAtNinetyFivePercent) {
    const MedianSequence sequence(0.95, 60);
    EXPECT_EQ(sequence.smallest(), 7);  // (1/2)^6 = 1.6 % is more than 2.5 % * (1 - 4/6)
    EXPECT_EQ(sequence.left_out(6), std::nullopt);
    EXPECT_EQ(sequence.left_out(7), 0);
    EXPECT_EQ(sequence.left_out(20), 3);
    EXPECT_EQ(sequence.left_out(61), std::nullopt);
    EXPECT_THROW(MedianSequence(1, 10), std::invalid_argument);
    EXPECT_THROW(MedianSequence(0.95, 0), std::invalid_argument);
}

TEST(MedianSequence, IsAFunctionOfWhatThereIsNotOfWhatMayCome) {
    const MedianSequence shorter(0.95, 20), longer(0.95, 200);
    for (int n = 1; n <= 20; ++n) EXPECT_EQ(shorter.left_out(n), longer.left_out(n)) << n;
}

/// All 2^n sequences of "above" and "below" the median, counted one by one: an independent
/// calculation of the exact error.
TEST(MedianSequence, ErrorIsExactByEnumeration) {
    constexpr int n = 18;
    const MedianSequence sequence(0.95, n);
    long misses_low = 0, misses_either = 0;
    for (unsigned long walk = 0; walk < (1UL << n); ++walk) {
        bool low = false, high = false;
        int below = 0;
        for (int i = 1; i <= n; ++i) {
            below += static_cast<int>((walk >> (i - 1)) & 1U);
            if (const auto out = sequence.left_out(i)) {
                low = low || below <= *out;
                high = high || i - below <= *out;
            }
        }
        misses_low += low;
        misses_either += low || high;
    }
    const double all = 1UL << n;
    EXPECT_DOUBLE_EQ(sequence.error(), 2 * static_cast<double>(misses_low) / all);
    EXPECT_LE(static_cast<double>(misses_either) / all, 0.05);
    EXPECT_GT(static_cast<double>(misses_either) / all, 0.02) << "wasteful";
}

TEST(Stopping, FalseAlarmsStayBelowTheLevelThoughEveryRoundIsLookedAt) {
    const Stopping rule({0.95, 5, 60});
    for (const Draw& draw : {Draw(steady), Draw(skewed), Draw(bimodal)}) {
        // With next to no margin the whole error of the sequence shows: exactly at most 5 %, here
        // within three standard errors of the simulation.
        const auto bare = many(rule, draw, 1, 1e-9);
        EXPECT_LE(alarms(bare),
                  0.05 + 3 * std::sqrt(0.05 * 0.95 / static_cast<double>(bare.size())));
        const auto usual = many(rule, draw, 1, 0.01);
        EXPECT_LE(alarms(usual), 0.05);
    }
}

TEST(Stopping, AtTheEdgeOfTheMarginNeitherAnswerIsWrongTooOften) {
    const Stopping rule({0.95, 5, 60});
    const auto runs = many(rule, steady, 1.01, 0.01);
    EXPECT_LE(share_of(runs, Standing::above), 0.03);
    EXPECT_LE(share_of(runs, Standing::same), 0.03);
}

/// What the correction is for: an interval of one look, 95 %, looked at after each of 30 rounds.
TEST(Stopping, UncorrectedLookingWouldCryWolf) {
    std::mt19937_64 random(7);
    int cries = 0;
    constexpr int runs = 4000;
    for (int run = 0; run < runs; ++run) {
        int below = 0;
        for (int n = 1; n <= 30; ++n) {
            below += static_cast<int>(random() % 2);
            const int fewer = std::min(below, n - below);
            double tail = 0, term = std::pow(0.5, n);
            for (int k = 0; k <= fewer; ++k) {
                tail += term;
                term *= static_cast<double>(n - k) / (k + 1);
            }
            if (tail <= 0.025) {
                ++cries;
                break;
            }
        }
    }
    EXPECT_GT(cries, runs / 8);
    EXPECT_LT(cries, runs / 4);
}

TEST(Stopping, TenPercentSlowerAtThreePercentNoiseIsDecidedInFewRounds) {
    const Stopping rule({0.95, 5, 30});
    auto runs = many(rule, steady, 1.10, 0.01);
    EXPECT_GE(share_of(runs, Standing::above), 0.99);
    std::sort(runs.begin(), runs.end(),
              [](const Measured& a, const Measured& b) { return a.rounds < b.rounds; });
    EXPECT_LE(runs[runs.size() / 2].rounds, 7);
    EXPECT_LE(runs[runs.size() * 95 / 100].rounds, 12);
}

TEST(Stopping, SamenessIsDecidedWhereTheMarginAllowsIt) {
    const Stopping rule({0.95, 5, 30});
    const Draw quiet = [](std::mt19937_64& random) { return std::exp(normal(random, 0.002)); };
    const auto runs = many(rule, quiet, 1, 0.01, 1000);
    EXPECT_GE(share_of(runs, Standing::same), 0.99);
    // Noise as wide as three margins: nothing can be said, and nothing is.
    const auto noisy = many(rule, steady, 1, 0.01, 1000);
    EXPECT_GE(share_of(noisy, Standing::undecided), 0.9);
}

TEST(Stopping, AnswersTurnAroundWithTheArms) {
    const Stopping rule({0.95, 5, 30});
    std::mt19937_64 random(3);
    for (int run = 0; run < 200; ++run) {
        Question there{{}, 0.01}, back{{}, 0.01};
        for (int i = 0; i < 12; ++i) {
            const double ratio = 1.04 * steady(random);
            there.ratios.push_back(ratio);
            back.ratios.push_back(1 / ratio);
        }
        const Answer a = rule.answer(there), b = rule.answer(back);
        EXPECT_EQ(a.standing == Standing::above, b.standing == Standing::below);
        EXPECT_EQ(a.pairs, b.pairs);
        EXPECT_NEAR(a.low * b.high, 1, 1e-12);
    }
}

TEST(Stopping, TheFirstAnswerStays) {
    const Stopping rule({0.95, 5, 30});
    Question question{std::vector<double>(7, 1.2), 0.01};
    ASSERT_EQ(rule.answer(question).standing, Standing::above);
    question.ratios.insert(question.ratios.end(), 20, 0.8);
    EXPECT_EQ(rule.answer(question).standing, Standing::above);
    EXPECT_EQ(rule.answer(question).pairs, 7);
}

TEST(Stopping, MinimumOfRoundsIsKept) {
    const Stopping rule({0.95, 10, 30});
    EXPECT_EQ(rule.answer({std::vector<double>(9, 2.0), 0.01}).standing, Standing::undecided);
    EXPECT_EQ(rule.answer({std::vector<double>(10, 2.0), 0.01}).standing, Standing::above);
    EXPECT_EQ(rule.earliest(), 10);
    EXPECT_EQ(Stopping({0.95, 5, 30}).earliest(), 7);
}

TEST(Stopping, WhatIsNotPositiveHasNoRatio) {
    const Stopping rule({0.95, 5, 30});
    EXPECT_EQ(rule.answer({{1.0, pair_ratio(0, 3)}, 0.01}).standing, Standing::no_ratio);
    EXPECT_EQ(rule.answer({{1.0, pair_ratio(1, -1)}, 0.01}).standing, Standing::no_ratio);
    EXPECT_EQ(rule.answer({std::vector<double>(7, pair_ratio(0, 0)), 0.01}).standing,
              Standing::same);
}

TEST(Stopping, GoesOnUntilAllAreDecidedOrSomethingIsSpent) {
    const Stopping rule({0.95, 5, 30});
    const std::vector<Answer> open{{Standing::same, 1, 1, 7}, {Standing::undecided, 1, 2, 7}};
    const std::vector<Answer> closed{{Standing::same, 1, 1, 7}, {Standing::no_ratio, 0, 0, 1}};
    const std::vector<Answer> nothing{{Standing::undecided, 0, 0, 0}};
    using Next = Stopping::Next;
    EXPECT_EQ(rule.next(open, 7, 1), Next::go_on);
    EXPECT_EQ(rule.next(open, 30, 1), Next::spent);
    EXPECT_EQ(rule.next(open, 7, 0), Next::spent);
    EXPECT_EQ(rule.next(closed, 7, 1), Next::decided);
    EXPECT_EQ(rule.next(closed, 30, 0), Next::decided);
    EXPECT_EQ(rule.next(nothing, 4, 1), Next::go_on);
    EXPECT_EQ(rule.next(nothing, 5, 1), Next::spent) << "every sample failed";
    EXPECT_EQ(rule.next({}, 0, 1), Next::go_on);
}

}  // namespace
}  // namespace assay::stopping
