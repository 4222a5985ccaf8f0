// Counts as people write them.
#include <gtest/gtest.h>

#include "suite/base/quantity_text.hpp"

namespace {

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

}  // namespace
