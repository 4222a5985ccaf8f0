#include "impls/rl/method/advantages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

namespace assay::rl {
namespace {

using testing::DoubleNear;
using testing::Each;
using testing::ElementsAre;

TEST(GroupRelative, IsTheStandardScoreWithinAGroup) {
    const std::vector<double> rewards{1, 0, 0, 0, /**/ 1, 1, 1, 1, /**/ 0, 2, 4, 6};
    const auto advantages = group_relative(rewards, 4);
    EXPECT_NEAR(advantages[0], 1.5, 1e-5);  // (1 − ¼) / ½
    EXPECT_NEAR(advantages[1], -0.5, 1e-5);
    EXPECT_THAT(std::vector(advantages.begin() + 4, advantages.begin() + 8), Each(0));
    const double deviation = std::sqrt(20.0 / 3);
    EXPECT_NEAR(advantages[8], -3 / deviation, 1e-5);
    EXPECT_NEAR(advantages[11], 3 / deviation, 1e-5);
}

TEST(GroupRelative, RefusesWhatIsNoGroup) {
    const std::vector<double> three{1, 2, 3};
    EXPECT_THROW(group_relative(three, 2), std::invalid_argument);
    EXPECT_THROW(group_relative(three, 1), std::invalid_argument);
}

TEST(BatchNormalised, FallsBackToABaselineOfOneHalf) {
    EXPECT_THAT(batch_normalised(std::vector<double>{1, 1, 1}), Each(0.5));
    EXPECT_THAT(batch_normalised(std::vector<double>{0, 0}), Each(-0.5));
    const auto mixed = batch_normalised(std::vector<double>{0, 1});
    EXPECT_NEAR(mixed[0], -std::sqrt(0.5), 1e-12);
    EXPECT_NEAR(mixed[1], std::sqrt(0.5), 1e-12);
    EXPECT_TRUE(batch_normalised({}).empty());
}

TEST(Generalised, WithLambdaOneIsTheReturnLessTheValue) {
    const std::vector<double> rewards{0.5, -1, 2}, values{0.1, 0.7, -0.3};
    const auto [advantages, returns] = generalised(rewards, values, 0.9, 1);
    const double last = 2, middle = -1 + 0.9 * last, first = 0.5 + 0.9 * middle;
    EXPECT_THAT(returns, ElementsAre(DoubleNear(first, 1e-12), DoubleNear(middle, 1e-12),
                                     DoubleNear(last, 1e-12)));
    EXPECT_NEAR(advantages[0], first - 0.1, 1e-12);
}

TEST(Generalised, WithLambdaZeroIsTheErrorOfOneStep) {
    const std::vector<double> rewards{0.5, -1, 2}, values{0.1, 0.7, -0.3};
    const auto advantages = generalised(rewards, values, 0.9, 0).advantages;
    EXPECT_THAT(advantages,
                ElementsAre(DoubleNear(0.5 + 0.9 * 0.7 - 0.1, 1e-12),
                            DoubleNear(-1 + 0.9 * -0.3 - 0.7, 1e-12), DoubleNear(2.3, 1e-12)));
    EXPECT_THROW(generalised(rewards, std::vector<double>{1.0}, 1, 1), std::invalid_argument);
}

TEST(AdaptiveKl, IsDrivenTowardsItsTarget) {
    AdaptiveKl kl(0.2, 6, 10000);
    kl.update(12, 1000);  // the error is cut at 0.2
    EXPECT_NEAR(kl.coefficient(), 0.2 * 1.02, 1e-12);
    kl.update(0, 1000);
    EXPECT_NEAR(kl.coefficient(), 0.2 * 1.02 * 0.98, 1e-12);
    kl.update(6, 1000);
    EXPECT_NEAR(kl.coefficient(), 0.2 * 1.02 * 0.98, 1e-12);
}

}  // namespace
}  // namespace assay::rl
