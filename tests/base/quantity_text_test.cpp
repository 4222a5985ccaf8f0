// Counts and units as people write them.
#include <gtest/gtest.h>

#include <utility>

#include "suite/base/quantity_text.hpp"

namespace {

using assay::unit_factor;
using assay::whole_number;

TEST(WholeNumber, IsReadInAnyFormThatIsOne) {
    EXPECT_EQ(whole_number("1000"), 1000);
    EXPECT_EQ(whole_number("1e3"), 1000);
    EXPECT_EQ(whole_number("2.5e6"), 2'500'000);
    EXPECT_EQ(whole_number("-3"), -3);
    EXPECT_EQ(whole_number("9007199254740991"), 9'007'199'254'740'991);
    for (const char* text :
         {"", "1.5", "1e-3", "1e3x", "1e3 ", "nan", "inf", "1e300", "3 000", "9007199254740993"})
        EXPECT_EQ(whole_number(text), std::nullopt) << text;
}

TEST(UnitFactor, IsThatOfOneQuantity) {
    EXPECT_DOUBLE_EQ(unit_factor("ms", "s").value(), 0.001);
    EXPECT_DOUBLE_EQ(unit_factor("min", "ms").value(), 60'000);
    EXPECT_DOUBLE_EQ(unit_factor("GB/s", "MB/s").value(), 1000);
    EXPECT_DOUBLE_EQ(unit_factor("KiB", "B").value(), 1024);
    EXPECT_DOUBLE_EQ(unit_factor("GFLOPS", "TFLOP/s").value(), 0.001);
    EXPECT_DOUBLE_EQ(unit_factor("%", "share").value(), 0.01);
    EXPECT_DOUBLE_EQ(unit_factor("widgets", "widgets").value(), 1);
    for (const auto& [from, to] : {std::pair("ms", "B"), {"B", "B/s"}, {"", "s"}, {"x", "y"}})
        EXPECT_FALSE(unit_factor(from, to)) << from << ' ' << to;
}

}  // namespace
