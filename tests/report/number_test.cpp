#include <gtest/gtest.h>

#include <cmath>

#include "suite/report/report.hpp"

namespace assay::report {

TEST(Number, IsShort) {
    EXPECT_EQ(number(0.61428571), "0.6143");
    EXPECT_EQ(number(1200000), "1.2e+06");
    EXPECT_EQ(number(12345), "12345");
    EXPECT_EQ(number(-3), "-3");
    EXPECT_EQ(number(-0.0), "0");
    EXPECT_EQ(number(1e-7), "1e-07");
    EXPECT_EQ(number(NAN), "nan");
}

}  // namespace assay::report
