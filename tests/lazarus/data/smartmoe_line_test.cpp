// One line of SmartMoE's logs: what is read, and that everything else is refused with its column.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "impls/lazarus/data/smartmoe_logs.hpp"

namespace assay::lazarus {
namespace {

using testing::ElementsAre;

constexpr SmartmoeLogs small{.layers = 12, .micro_batches = 2, .experts = 3, .tokens = 10};

SmartmoeLine parsed(const std::string& line) {
    SmartmoeLine into;
    parse_smartmoe_line(line, small, into);
    return into;
}

std::string error_of(const std::string& line) {
    try {
        parsed(line);
    } catch (const data::DataError& error) {
        return error.what();
    }
    return "no error";
}

TEST(SmartmoeLine, IsReadAsTheArtifactPrintsIt) {
    const SmartmoeLine line = parsed("11:[[1.0, 2.0, 7.0], [10.0, 0.0, 0.0]]");
    EXPECT_EQ(line.layer, 11u);
    EXPECT_THAT(line.counts, ElementsAre(1, 2, 7, 10, 0, 0));
}

TEST(SmartmoeLine, MayHaveWholeNumbersAndOtherBlanks) {
    EXPECT_THAT(parsed("0:[[1,2,7],[10,0,0]]").counts, ElementsAre(1, 2, 7, 10, 0, 0));
    EXPECT_THAT(parsed(" 3 : [ [ 1.000 ,\t2, 7.0 ],[10, 0.0, 0.0 ] ] ").counts,
                ElementsAre(1, 2, 7, 10, 0, 0));
}

TEST(SmartmoeLine, StorageOfAnEarlierLineLeavesNothingBehind) {
    SmartmoeLine into = parsed("1:[[1.0, 2.0, 7.0], [10.0, 0.0, 0.0]]");
    parse_smartmoe_line("2:[[0.0, 0.0, 10.0], [5.0, 5.0, 0.0]]", small, into);
    EXPECT_EQ(into.layer, 2u);
    EXPECT_THAT(into.counts, ElementsAre(0, 0, 10, 5, 5, 0));
}

TEST(SmartmoeLine, RefusesCountsThatAreNone) {
    const auto expect = [](const std::string& count, const std::string& message) {
        EXPECT_EQ(error_of("0:[[1.0, " + count + ", 7.0], [10.0, 0.0, 0.0]]"),
                  "column 10: " + message);
    };
    expect("-2.0", "a number of tokens is -2.0: it cannot be negative");
    expect("-0.0", "a number of tokens is -0.0: it cannot be negative");
    expect("nan", "a number of tokens is nan, which is not a finite number");
    expect("-inf", "a number of tokens is -inf, which is not a finite number");
    expect("1e999", "a number of tokens is 1e999, which is not a finite number");
    expect("1.5", "a number of tokens is 1.5: it must be a whole number");
    expect("1.05", "a number of tokens is 1.05: it must be a whole number");
    expect("99999999999999999999.0",
           "a number of tokens is 99999999999999999999.0: it is too large");
    expect("2e0", "a number of tokens is written 2e0, not in the form 12.0");
    expect("02", "a number of tokens is written 02, not in the form 12.0");
    expect("2.", "a number of tokens is written 2., not in the form 12.0");
    expect("two", "a number of tokens is expected, not \"two\"");
    expect("2.0x", "a number of tokens is expected, not \"2.0x\"");
    expect("", "a number of tokens is expected, not \",\"");
    expect("11.0", "11 tokens where a micro-batch has 10");
}

TEST(SmartmoeLine, RefusesOtherNumbersOfExpertsAndMicroBatches) {
    EXPECT_EQ(error_of("0:[[3.0, 7.0], [10.0, 0.0, 0.0]]"),
              "column 4: micro-batch 0 has 2 experts where 3 are known");
    EXPECT_EQ(error_of("0:[[1.0, 2.0, 7.0], [10.0, 0.0, 0.0, 0.0]]"),
              "column 21: micro-batch 1 has more than the 3 experts known");
    EXPECT_EQ(error_of("0:[[1.0, 2.0, 7.0]]"),
              "column 3: layer 0 has 1 micro-batches where 2 are known");
    EXPECT_EQ(error_of("0:[[1, 2, 7], [1, 2, 7], [1, 2, 7]]"),
              "column 3: layer 0 has more than the 2 micro-batches known");
}

TEST(SmartmoeLine, RefusesTokensLostOrGained) {
    EXPECT_EQ(error_of("0:[[1.0, 2.0, 7.0], [9.0, 0.0, 0.0]]"),
              "column 21: micro-batch 1 has 9 tokens where 10 are known");
    EXPECT_EQ(error_of("0:[[1.0, 3.0, 7.0], [10.0, 0.0, 0.0]]"),
              "column 4: micro-batch 0 has 11 tokens where 10 are known");
}

TEST(SmartmoeLine, RefusesLayersThatAreNone) {
    EXPECT_EQ(error_of("12:[[1, 2, 7], [1, 2, 7]]"), "column 1: layer 12 where 0 to 11 are known");
    EXPECT_EQ(error_of("-1:[[1, 2, 7], [1, 2, 7]]"),
              "column 1: a layer is -1: it cannot be negative");
    EXPECT_EQ(error_of("1.0:[[1, 2, 7], [1, 2, 7]]"),
              "column 1: a layer is written 1.0, not in the form 12");
    EXPECT_EQ(error_of("[[1, 2, 7], [1, 2, 7]]"), "column 1: a layer is expected, not \"[\"");
    EXPECT_EQ(error_of(""), "column 1: the line ends where a layer is expected");
}

TEST(SmartmoeLine, RefusesEveryLineThatIsCutOff) {
    const std::string line = "7:[[1.0, 2.0, 7.0], [10.0, 0.0, 0.0]]";
    for (std::size_t length = 0; length < line.size(); ++length)
        EXPECT_THAT(error_of(line.substr(0, length)), testing::StartsWith("column ")) << length;
    EXPECT_EQ(error_of(line.substr(0, 18)),
              "column 19: the line ends where ']' is expected after a micro-batch");
}

TEST(SmartmoeLine, RefusesWhatIsNoList) {
    EXPECT_EQ(error_of("0 [[1, 2, 7], [1, 2, 7]]"),
              "column 3: ':' is expected after the layer, not \"[\"");
    EXPECT_EQ(error_of("0:[[1 2, 7], [1, 2, 7]]"),
              "column 7: ']' is expected after a number of tokens, not \"2\"");
    EXPECT_EQ(error_of("0:[[1, 2, 7], [1, 2, 7]] 8"), "column 26: \"8\" after the end of the list");
    EXPECT_EQ(error_of("0:[[1, \x01\xff, 7], [1, 2, 7]]"),
              "column 8: a number of tokens is expected, not \"??\"");
}

}  // namespace
}  // namespace assay::lazarus
