#include "suite/measure/statistics/quantile.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "tests/statistics/reference_samples.hpp"

namespace assay::statistics {
namespace {

// NumPy 2.4.6, numpy.quantile, rounded to three places.
TEST(Quantile, IsNumpys) {
    EXPECT_NEAR(quantile(kFifty, 0), 5.51, 1e-12);
    EXPECT_NEAR(quantile(kFifty, 0.1), 7.095, 6e-4);
    EXPECT_NEAR(quantile(kFifty, 0.25), 8.335, 6e-4);
    EXPECT_NEAR(quantile(kFifty, 0.333), 8.653, 6e-4);
    EXPECT_NEAR(median(kFifty), 9.42, 1e-12);
    EXPECT_NEAR(quantile(kFifty, 0.9), 12.727, 6e-4);
    EXPECT_NEAR(quantile(kFifty, 1), 15.33, 1e-12);
    EXPECT_NEAR(quartiles(kFifty).first, quantile(kFifty, 0.25), 1e-12);
    EXPECT_NEAR(quartiles(kFifty).third, quantile(kFifty, 0.75), 1e-12);
}

TEST(Quantile, RefusesWhatHasNone) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THROW(median({}), std::invalid_argument);
    EXPECT_THROW(quartiles({}), std::invalid_argument);
    EXPECT_THROW(median(std::vector{1.0, nan}), std::invalid_argument);
    EXPECT_THROW(quantile(kFifty, 1.01), std::invalid_argument);
    EXPECT_THROW(quantile(kFifty, nan), std::invalid_argument);
}

TEST(Quantile, ReachesInfinityOnlyWhereItIsTheAnswer) {
    const double infinity = std::numeric_limits<double>::infinity();
    EXPECT_EQ(median(std::vector{1.0, 2.0, infinity}), 2);
    EXPECT_EQ(median(std::vector{1.0, infinity}), infinity);
}

// Quartiles 2 and 4: fences at -1 and 7, and at -4 and 10.
TEST(Outliers, LieBeyondTukeysFences) {
    using enum Outlier;
    EXPECT_EQ(outliers(std::vector{3.0, 2.0, 4.0, 2.0, 4.0}), std::vector(5, none));
    EXPECT_EQ(outliers(std::vector{3.0, 2.0, 4.0, 2.0, 7.0, 3.0, 4.0, 2.0, 4.0})[4], none);
    EXPECT_EQ(outliers(std::vector{3.0, 2.0, 4.0, 2.0, 7.1, 3.0, 4.0, 2.0, 4.0})[4], mild);
    EXPECT_EQ(outliers(std::vector{3.0, 2.0, 4.0, 2.0, 10.1, 3.0, 4.0, 2.0, 4.0})[4], severe);
    EXPECT_EQ(outliers(std::vector{3.0, 2.0, 4.0, 2.0, -1.1, 3.0, 4.0, 2.0, 4.0})[4], mild);
    EXPECT_EQ(outliers(std::vector{3.0, 2.0, 4.0, 2.0, -4.1, 3.0, 4.0, 2.0, 4.0})[4], severe);
}

TEST(Outliers, OfTooFewOrEqualValues) {
    EXPECT_EQ(outliers(std::vector{1.0, 1.0, 1.0, 99.0}), std::vector(4, Outlier::none));
    EXPECT_TRUE(outliers({}).empty());
    EXPECT_EQ(outliers(std::vector(9, 1.0)), std::vector(9, Outlier::none));
    EXPECT_EQ(outliers(std::vector{1.0, 1.0, 1.0, 1.0, 1.0, 1.1})[5], Outlier::severe);
}

}  // namespace
}  // namespace assay::statistics
