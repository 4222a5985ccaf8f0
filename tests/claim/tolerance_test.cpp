// What a claim's value and tolerance read like.
#include "suite/claim/tolerance.hpp"

#include <gtest/gtest.h>

namespace assay {
namespace {

using Size = std::optional<double>;

std::string read(const char* test, Size value, Size relative, Size absolute = std::nullopt) {
    Claim claim;
    claim.test.name = test;
    claim.value = value;
    claim.relative = relative;
    claim.absolute = absolute;
    return value_text(claim);
}

TEST(Tolerance, ReadsBesideTheValue) {
    EXPECT_EQ(read("near", 2.3, 0.1), "2.3 ± 10 %");
    EXPECT_EQ(read("near", 2.3, {}, 0.05), "2.3 ± 0.05");
    EXPECT_EQ(read("near", -2, 0.125), "-2 ± 12.5 %");
    EXPECT_EQ(read("at_least", 2.3, 0.1), "2.3 − 10 %");
    EXPECT_EQ(read("at_most", 2.3, 0.1), "2.3 + 10 %");
    EXPECT_EQ(read("increasing", {}, 0.02), "± 2 %");
}

TEST(Tolerance, TheWiderCounts) {
    EXPECT_EQ(read("near", 2, 0.1, 0.1), "2 ± 10 %");
    EXPECT_EQ(read("near", 2, 0.1, 0.3), "2 ± 0.3");
    EXPECT_EQ(read("near", 0, 0.1, 0.3), "0 ± 0.3");
}

TEST(Tolerance, NoneIsNotWritten) {
    EXPECT_EQ(read("greater", 2, {}), "2");
    EXPECT_EQ(read("near", 2, {}, 1e-9), "2") << "rounding";
    EXPECT_EQ(read("order", {}, {}), "");
}

TEST(Tolerance, ACheckInCodeSaysItsOwn) {
    EXPECT_EQ(read("custom:tab2_within", 11, 0.05), "11 (tab2_within, 5 %)");
    EXPECT_EQ(read("custom:mine", {}, {}, 0.05), "(mine, 0.05)");
    EXPECT_EQ(read("custom:mine", {}, {}), "(mine)");
}

TEST(Tolerance, EveryShippedCheckInCodeHasOne) {
    int checks = 0;
    for (const char* system : {"lazarus", "lte", "hetermoe", "plato", "dr_post_training", "decode"})
        for (const Claim& claim : read_claims(std::filesystem::path(ASSAY_TEST_DATASETS) /
                                              "claims" / (std::string(system) + ".toml"))) {
            if (!claim.test.custom()) continue;
            ++checks;
            EXPECT_TRUE(claim.relative || claim.absolute) << claim.id;
        }
    EXPECT_GT(checks, 1);
}

}  // namespace
}  // namespace assay
