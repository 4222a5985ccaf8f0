// Advantages within a group, against numbers worked out by hand and sums written out.
#include "impls/rl/method/advantages.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>

#include "suite/base/error.hpp"

namespace assay::rl {
namespace {

std::vector<double> random_rewards(std::mt19937& random, std::size_t count) {
    std::vector<double> rewards(count);
    for (double& reward : rewards) reward = std::uniform_real_distribution(-2.0, 3.0)(random);
    return rewards;
}

void expect_near(const std::vector<double>& found, const std::vector<double>& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-12) << i;
}

TEST(AdvantagesOf, AGroupOfFourByHand) {
    const std::vector<double> rewards{1, 0, 0, 0};  // mean 1/4, squares 3/4, std 1/2
    const auto grpo = advantages_of(rewards, Estimator::grpo);
    expect_near(grpo.advantages,
                {0.75 / 0.500001, -0.25 / 0.500001, -0.25 / 0.500001, -0.25 / 0.500001});
    EXPECT_DOUBLE_EQ(grpo.mean, 0.25);
    EXPECT_DOUBLE_EQ(grpo.std, 0.5);
    EXPECT_FALSE(grpo.zero_variance);
    const auto dr_grpo = advantages_of(rewards, Estimator::dr_grpo);
    expect_near(dr_grpo.advantages, {0.75, -0.25, -0.25, -0.25});
    EXPECT_DOUBLE_EQ(dr_grpo.std, 0.5);
    const auto rloo = advantages_of(rewards, Estimator::rloo);
    expect_near(rloo.advantages, {1, -1.0 / 3, -1.0 / 3, -1.0 / 3});
    expect_near(advantages_of(std::vector<double>{0.2, 1}, Estimator::rloo).advantages,
                {-0.8, 0.8});
}

TEST(AdvantagesOf, RlooIsAgainstTheOthersOneByOne) {
    std::mt19937 random(1);
    for (const std::size_t count : {2U, 3U, 7U}) {
        const auto rewards = random_rewards(random, count);
        const auto found = advantages_of(rewards, Estimator::rloo).advantages;
        for (std::size_t i = 0; i < count; ++i) {
            double others = 0;
            for (std::size_t j = 0; j < count; ++j)
                if (j != i) others += rewards[j];
            EXPECT_NEAR(found[i], rewards[i] - others / static_cast<double>(count - 1), 1e-12);
        }
    }
}

TEST(AdvantagesOf, AddUpToNothingAndDoNotSeeAShift) {
    std::mt19937 random(2);
    for (const Estimator estimator : values_of<Estimator>)
        for (int repeat = 0; repeat < 20; ++repeat) {
            const auto rewards = random_rewards(random, 5);
            auto shifted = rewards;
            for (double& reward : shifted) reward += 10;
            const auto found = advantages_of(rewards, estimator);
            EXPECT_NEAR(std::accumulate(found.advantages.begin(), found.advantages.end(), 0.0), 0,
                        1e-12);
            const auto moved = advantages_of(shifted, estimator);
            for (std::size_t i = 0; i < rewards.size(); ++i)
                EXPECT_NEAR(moved.advantages[i], found.advantages[i], 1e-10);
            EXPECT_NEAR(moved.mean, found.mean + 10, 1e-12);
            EXPECT_NEAR(moved.std, found.std, 1e-12);
        }
}

TEST(AdvantagesOf, OnlyGrpoHidesTheScale) {
    const std::vector<double> small{1, 2, 4}, large{100, 200, 400};
    const auto ratio = [&](Estimator estimator) {
        return advantages_of(large, estimator).advantages[2] /
               advantages_of(small, estimator).advantages[2];
    };
    EXPECT_NEAR(ratio(Estimator::grpo), 1, 1e-5);
    EXPECT_NEAR(ratio(Estimator::dr_grpo), 100, 1e-9);
    EXPECT_NEAR(ratio(Estimator::rloo), 100, 1e-9);
}

TEST(AdvantagesOf, EqualRewardsAndALoneOneGiveNoDirection) {
    for (const Estimator estimator : values_of<Estimator>)
        // Sums of 0.1 round: 0.1 + 0.1 + 0.1 is no 3 · 0.1.
        for (const auto& rewards : {std::vector<double>(3, 0.1), {0.7}, {0, 0}, {-0.0, 0.0}}) {
            const auto found = advantages_of(rewards, estimator);
            EXPECT_TRUE(found.zero_variance);
            EXPECT_EQ(found.advantages, std::vector<double>(rewards.size(), 0.0));
            EXPECT_EQ(found.mean, rewards[0]);
            EXPECT_EQ(found.std, 0);
        }
    EXPECT_FALSE(advantages_of(std::vector<double>{1, 1, std::nextafter(1.0, 2.0)}, Estimator::grpo)
                     .zero_variance);
}

TEST(AdvantagesOf, WhatIsNoGroupIsRefused) {
    constexpr double largest = std::numeric_limits<double>::max();
    EXPECT_THROW(advantages_of({}, Estimator::grpo), std::invalid_argument);
    EXPECT_THROW(advantages_of(std::vector<double>{1, std::nan("")}, Estimator::grpo),
                 std::invalid_argument);
    EXPECT_THROW(advantages_of(std::vector<double>{largest, 0.9 * largest}, Estimator::rloo),
                 UserError);
    EXPECT_THROW(advantages_of(std::vector<double>{1e200, 0}, Estimator::grpo), UserError);
}

}  // namespace
}  // namespace assay::rl
