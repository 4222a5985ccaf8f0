#include "suite/measure/statistics/mean_interval.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

namespace assay::statistics {
namespace {

// Quantiles of Student's t from the usual tables: 12.706, 4.303, 2.776 at 95 % with 1, 2 and 4
// degrees of freedom, 9.925 at 99 % with 2.
TEST(MeanInterval, ReachesAsFarAsStudentsT) {
    const auto two = mean_interval(std::vector{1.0, 3.0});
    EXPECT_DOUBLE_EQ(two->mean, 2);
    EXPECT_NEAR(two->high - 2, 12.706, 1e-3);  // standard error: 1
    EXPECT_NEAR(2 - two->low, 12.706, 1e-3);
    const std::vector<double> three{4, 5, 6};
    EXPECT_NEAR(mean_interval(three)->high, 5 + 4.303 / std::sqrt(3), 1e-3);
    EXPECT_NEAR(mean_interval(three, 0.99)->low, 5 - 9.925 / std::sqrt(3), 1e-3);
    const std::vector<double> five{-2, -1, 0, 1, 2};
    EXPECT_NEAR(mean_interval(five)->high, 2.776 * std::sqrt(2.5 / 5), 1e-3);
}

TEST(MeanInterval, EqualValuesLeaveNoDoubt) {
    const auto equal = mean_interval(std::vector{0.25, 0.25, 0.25});
    EXPECT_EQ(equal->low, 0.25);
    EXPECT_EQ(equal->high, 0.25);
}

TEST(MeanInterval, OneValueHasNone) {
    EXPECT_FALSE(mean_interval(std::vector{1.0}));
    EXPECT_FALSE(mean_interval({}));
}

TEST(MeanInterval, RefusesWhatHasNoMean) {
    EXPECT_THROW(mean_interval(std::vector{1.0, std::numeric_limits<double>::infinity()}),
                 std::invalid_argument);
    EXPECT_THROW(mean_interval(std::vector{1.0, 2.0}, 1), std::invalid_argument);
}

}  // namespace
}  // namespace assay::statistics
