// The loads file: what is read, and what errors say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "impls/lazarus/data/loads_file.hpp"
#include "suite/base/error.hpp"

namespace assay::lazarus {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
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
    EXPECT_THAT(parse_loads("1 2\t3 4\r\n", "x"), ElementsAre(Loads{1, 2, 3, 4}));
    EXPECT_THAT(parse_loads("1,2 , 3,4 5\n", "x"), ElementsAre(Loads{1, 2, 3, 4, 5}));
    EXPECT_THAT(parse_loads("  007\n", "x"), ElementsAre(Loads{7}));
    EXPECT_THAT(parse_loads("9223372036854775807", "x"),
                ElementsAre(Loads{std::numeric_limits<Tokens>::max()}));
}

TEST(LazarusLoads, EachLineIsALayer) {
    EXPECT_THAT(parse_loads("9 2 4\n\n1,8,6\r\n3 3 9", "x"),
                ElementsAre(Loads{9, 2, 4}, Loads{1, 8, 6}, Loads{3, 3, 9}));
    EXPECT_THAT(parse_loads("9\n2\n4\n", "x"), ElementsAre(Loads{9, 2, 4}));
    EXPECT_EQ(error_of("9 2 4\n\n1 8\n"),
              "loads.txt:3:1: 2 numbers, line 1 has 3; each line is a layer, and all layers have "
              "the same experts");
}

TEST(LazarusLoads, RefusesWhatIsNoCountOfTokens) {
    EXPECT_THAT(error_of("layer,e0,e1\n0,5,9"),
                AllOf(StartsWith("loads.txt:1:1: \"layer\" is not "), HasSubstr("a header")));
    EXPECT_THAT(error_of("120 130\nNaN 7"),
                StartsWith("loads.txt:2:1: \"NaN\" is not a count of tokens"));
    EXPECT_THAT(error_of("0.25 0.75"), HasSubstr("multiply shares"));
    EXPECT_THAT(error_of("[[12, 3], [4, 5]]"), HasSubstr("without brackets"));
    EXPECT_THAT(error_of("iteration,layer,e0,e1\n11,0,5,9\n"),
                HasSubstr("grep '^11,' FILE | cut -d, -f3-"));
}

TEST(LazarusLoads, RefusesColumnsThatCountTheLines) {
    EXPECT_THAT(
        error_of("0,120,130\n1,110,150\n2,90,160"),
        AllOf(StartsWith("loads.txt:2:1: 1 after 0: column 1 counts"), HasSubstr("cut -d, -f2-")));
    EXPECT_THAT(error_of("1 120 130\n2 110 150"), HasSubstr("column 1 counts"));
    EXPECT_THAT(error_of("200 12 13\n400 11 15\n600 9 16"), HasSubstr("column 1 counts"));
    EXPECT_THAT(error_of("7 0 12 13\n7 1 11 15\n8 0 9 16\n8 1 3 30"), HasSubstr("column 2 counts"));
    // Loads: every column rises alike; equal sums or nearly; no steps; two lines of small numbers.
    EXPECT_THAT(parse_loads("1 2\n2 3\n3 4", "x"), SizeIs(3));
    EXPECT_THAT(parse_loads("10 50 30\n20 30 40\n30 20 40", "x"), SizeIs(3));
    EXPECT_THAT(parse_loads("10 50 30\n20 30 40\n31 20 40", "x"), SizeIs(3));
    // Nearly equal sums, as where a few tokens were dropped; without the column they are not.
    EXPECT_THAT(parse_loads("10 50 31\n20 30 40\n30 20 42", "x"), SizeIs(3));
    EXPECT_THAT(error_of("10 50 31\n20 50 30\n30 49 31"), HasSubstr("column 1 counts"));
    EXPECT_THAT(parse_loads("1 5 6\n2 7 4", "x"), SizeIs(2));
    EXPECT_THAT(parse_loads("1 1 9\n5 1 3\n1 9 7", "x"), SizeIs(3));
}

std::vector<std::string> doubts_of(std::string_view text) {
    std::vector<std::string> doubts;
    parse_loads(text, "loads.txt", &doubts);
    return doubts;
}

TEST(LazarusLoads, RefusesLayerAndStepNumbersOfAnyStepAndDirection) {
    const auto counts = HasSubstr("column 1 counts");
    EXPECT_THAT(error_of("11 500 300\n10 420 350\n9 350 450"), counts) << "falling";
    EXPECT_THAT(error_of("1 500 300\n3 420 350\n5 350 450"), counts) << "every other layer";
    EXPECT_THAT(error_of("1 500 300\n0 420 350"), counts);
    // Uneven steps: where the sums are alike without the column; or on many lines.
    EXPECT_THAT(error_of("1 500 300\n4 420 380\n11 350 450"), counts);
    EXPECT_THAT(error_of("1 500 300 9\n3 420 350 2\n4 350 450 7\n9 100 90 30\n10 300 800 4\n17 "
                         "200 500 5"),
                counts);
    EXPECT_THAT(error_of("90 12 18\n100 15 15\n250 11 19\n300 17 13\n900 14 16\n1000 10 20"),
                counts)
        << "steps, larger than loads";
    EXPECT_THAT(error_of("1 500 300\n4 420 380\n11 350 490\n1 520 350\n4 120 480\n11 250 480"),
                counts)
        << "the same layers again";
}

TEST(LazarusLoads, TakesLoadsThatRiseOrFallForLoads) {
    for (const char* loads :
         {"90 50 30\n70 60 40\n50 80 40",          // equal sums
          "400 300 301\n300 350 349\n90 450 462",  // nearly equal
          "10 500 300\n40 420 350\n30 350 450",    // neither rises nor falls
          "1 5 6\n3 7 4\n4 9 9",                   // no larger loads beside it
          "9 20 31\n12 22 35\n18 29 40\n19 35 44\n25 39 70\n31 40 90"}) {  // with depth
        EXPECT_EQ(error_of(loads), "no error") << loads;
        EXPECT_THAT(doubts_of(loads), testing::IsEmpty()) << loads;
    }
}

TEST(LazarusLoads, WarnsWhereItIsNotSure) {
    EXPECT_THAT(doubts_of("5,500,300\n6,420,390"),
                ElementsAre("loads.txt: column 1 (5, 6, …) is planned for as an expert; should it "
                            "hold layer or step numbers: `cut -d, -f2- loads.txt | assay plan "
                            "lazarus --loads - …`"));
    EXPECT_THAT(doubts_of("7 500 300\n7 420 390\n7 300 320"), SizeIs(1)) << "of one step?";
    EXPECT_THAT(doubts_of("0 500 300\n0 420 390\n0 300 320"), testing::IsEmpty()) << "a cold one";
    EXPECT_THAT(doubts_of("1 500 300 20\n3 420 390 9\n4 300 320 31"), SizeIs(1));
}

TEST(LazarusLoads, SaysHowToLeaveTheColumnOutOfSuchAFile) {
    EXPECT_THAT(error_of("0,120,130\n1,110,150\n2,90,160"),
                HasSubstr("`cut -d, -f2- loads.txt | assay plan lazarus --loads - …`"));
    EXPECT_THAT(error_of("0\t120\t130\n1\t110\t150\n2\t90\t160"),
                HasSubstr("`cut -f2- loads.txt | "));
    EXPECT_THAT(error_of("0  120 130\n1  110 150\n2  90 160"),
                HasSubstr("`awk '{$1 = \"\"} 1' loads.txt | "));
    EXPECT_THAT(error_of("7 0 12 13\n7 1 11 15\n8 0 9 16\n8 1 3 30"),
                HasSubstr("`awk '{$1 = $2 = \"\"} 1' loads.txt | "));
    EXPECT_THAT(error_of("0,120 130\n1,110 150\n2,90 160"),
                HasSubstr("`tr , ' ' <loads.txt | awk '{$1 = \"\"} 1' | "));
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
    EXPECT_THAT(error_of("1,\n"), StartsWith("loads.txt:1:3: a comma without a number after it"));
}

TEST(LazarusLoads, RefusesNothing) {
    EXPECT_THAT(error_of(""), StartsWith("loads.txt:1:1: no loads"));
    EXPECT_THAT(error_of(" \n \n"), HasSubstr("no loads"));
}

TEST(LazarusLoads, PrintsStrangeBytesSafely) {
    EXPECT_THAT(error_of(std::string_view("\x01\xff\0z", 4)), HasSubstr("\"???z\""));
    EXPECT_THAT(error_of(std::string(10000, 'a')), testing::SizeIs(testing::Lt(250U)));
}

}  // namespace
}  // namespace assay::lazarus
