// Ranges of seeds as typed.
#include <gtest/gtest.h>

#include "suite/base/error.hpp"
#include "suite/drive/campaign/campaign.hpp"

namespace assay::drive {
namespace {

TEST(SeedRange, AreReadAndWritten) {
    EXPECT_EQ(parse_seed_range("7"), (SeedRange{7, 7}));
    EXPECT_EQ(parse_seed_range("7..9"), (SeedRange{7, 9}));
    EXPECT_EQ(parse_seed_range("1..10000").size(), 10'000U);
    for (const char* text : {"0", "17", "1..20", "18446744073709551614"})
        EXPECT_EQ(to_string(parse_seed_range(text)), text);
}

TEST(SeedRange, MalformedOnesAreRefused) {
    for (const char* text :
         {"", "x", "1..", "..3", "1-3", "5..2", "-1", "1..2..3", "1..99999999999", "1 ..3", "0x10",
          "18446744073709551615", "18446744073709551616"})
        EXPECT_THROW(parse_seed_range(text), UserError) << text;
}

}  // namespace
}  // namespace assay::drive
