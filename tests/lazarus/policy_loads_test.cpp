// The loads file: what is read, and what errors say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "impls/lazarus/policy/loads.hpp"
#include "suite/experiment/error.hpp"

namespace assay::lazarus {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::string error_of(std::string_view text) {
    try {
        parse_loads(text, "loads.txt");
    } catch (const UserError& error) {
        return error.what();
    }
    return "no error";
}

TEST(LazarusLoads, ReadsWhiteSpaceAndCommas) {
    EXPECT_THAT(parse_loads("1 2\t3\n4\r\n5", "x"), ElementsAre(1, 2, 3, 4, 5));
    EXPECT_THAT(parse_loads("1,2 , 3,\n4 5\n", "x"), ElementsAre(1, 2, 3, 4, 5));
    EXPECT_THAT(parse_loads("  007\n", "x"), ElementsAre(7));
    EXPECT_THAT(parse_loads("9223372036854775807", "x"),
                ElementsAre(std::numeric_limits<Tokens>::max()));
}

TEST(LazarusLoads, NamesLineAndColumnOfWhatIsWrong) {
    EXPECT_EQ(error_of("1 2\n3 -4 5"),
              "loads.txt:2:3: \"-4\" is negative; loads are counts of tokens, 0 or more");
    EXPECT_THAT(error_of("1\n2 seven"), StartsWith("loads.txt:2:3: \"seven\" is not an integer"));
    EXPECT_THAT(error_of("1.5"), StartsWith("loads.txt:1:1: \"1.5\" is not an integer"));
    EXPECT_THAT(error_of("1e3"), HasSubstr("not an integer"));
    EXPECT_THAT(error_of("0x10"), HasSubstr("not an integer"));
    EXPECT_THAT(error_of("3 9223372036854775808"),
                StartsWith("loads.txt:1:3: \"9223372036854775808\" is larger than 2^63-1"));
    EXPECT_THAT(error_of("-9223372036854775809"), HasSubstr("is negative"));
}

TEST(LazarusLoads, RefusesCommasWithoutNumbers) {
    EXPECT_THAT(error_of("1,,2"), StartsWith("loads.txt:1:3: a comma without a number before it"));
    EXPECT_THAT(error_of(",1"), StartsWith("loads.txt:1:1: a comma"));
    EXPECT_THAT(error_of("1,\n"), StartsWith("loads.txt:2:1: a comma without a number after it"));
}

TEST(LazarusLoads, RefusesNothing) {
    EXPECT_THAT(error_of(""), StartsWith("loads.txt:1:1: no loads"));
    EXPECT_THAT(error_of(" \n \n"), HasSubstr("no loads"));
}

TEST(LazarusLoads, PrintsStrangeBytesSafely) {
    EXPECT_THAT(error_of(std::string_view("\x01\xff\0z", 4)), HasSubstr("\"???z\""));
    EXPECT_THAT(error_of(std::string(10000, 'a')), testing::SizeIs(testing::Lt(150U)));
}

}  // namespace
}  // namespace assay::lazarus
