// Seeded draws: their distributions, and what they hang on.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "suite/scenario/dice.hpp"

namespace assay {
namespace {

TEST(DiceExponential, HasItsMomentsAndTail) {
    Dice dice(7);
    constexpr int draws = 100000;
    double sum = 0, squares = 0;
    int beyond_two = 0;
    for (int i = 0; i < draws; ++i) {
        const double x = dice.exponential();
        ASSERT_GE(x, 0);
        sum += x;
        squares += x * x;
        beyond_two += x > 2;
    }
    EXPECT_NEAR(sum / draws, 1, 5 / std::sqrt(draws));
    EXPECT_NEAR(squares / draws, 2, 5 * std::sqrt(20.0 / draws));
    const double tail = std::exp(-2);
    EXPECT_NEAR(static_cast<double>(beyond_two) / draws, tail,
                5 * std::sqrt(tail * (1 - tail) / draws));
}

TEST(KeyedDice, OtherKeysLeaveAKeysDrawsAsTheyAre) {
    KeyedDice alone(7), among_others(7);
    std::vector<double> draws, again;
    for (int i = 0; i < 100; ++i) draws.push_back(alone.next("step", {3, i % 5}).uniform());
    for (int i = 0; i < 100; ++i) {
        for (int other = 0; other < i % 4; ++other) {
            among_others.next("step", {4, i % 5}).below(10);
            among_others.next("message", {3, i % 5}).uniform();
        }
        auto one = among_others.next("step", {3, i % 5});
        again.push_back(one.uniform());
        one.uniform();  // more draws at once are no other time
    }
    EXPECT_EQ(draws, again);
}

TEST(KeyedDice, EachPartOfAKeyTellsDrawsApart) {
    KeyedDice dice(7), other_seed(8);
    const double first = dice.next("step", {1, 2}).uniform();
    EXPECT_NE(first, dice.next("step", {1, 2}).uniform()) << "the second of its key";
    EXPECT_NE(first, dice.next("step", {2, 1}).uniform());
    EXPECT_NE(first, dice.next("step", {1}).uniform());
    EXPECT_NE(first, dice.next("stop", {1, 2}).uniform());
    EXPECT_NE(first, other_seed.next("step", {1, 2}).uniform());
}

TEST(KeyedDice, FirstDrawsOfKeysAreUniform) {
    KeyedDice dice(1);
    constexpr int keys = 100'000, bins = 10;
    std::vector<int> counts(bins);
    double sum = 0;
    for (int key = 0; key < keys; ++key) {
        const double draw = dice.next("uniform", {key}).uniform();
        sum += draw;
        ++counts[static_cast<std::size_t>(draw * bins)];
    }
    EXPECT_NEAR(sum / keys, 0.5, 5 * std::sqrt(1.0 / 12 / keys));
    for (const int count : counts) EXPECT_NEAR(count, keys / bins, 5 * std::sqrt(keys * 0.1 * 0.9));
}

// A change of these numbers changes what every seed of a campaign means.
TEST(KeyedDice, ASeedMeansTheSameEverywhere) {
    KeyedDice dice(5489);
    EXPECT_EQ(dice.next("step", {1, -1}).below(1'000'000'000), 213802763U);
    EXPECT_EQ(dice.next("step", {1, -1}).below(1'000'000'000), 711514870U);
}

}  // namespace
}  // namespace assay
