#include "suite/base/json_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace assay {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// "line:column: what"
std::string complaint(std::string_view text) {
    try {
        return parse_json(text).dump();
    } catch (const JsonError& error) {
        return std::to_string(error.line) + ':' + std::to_string(error.column) + ": " +
               error.what();
    }
}

TEST(JsonText, AnErrorHasItsPlaceAndItsReason) {
    EXPECT_EQ(complaint("{\n \"a\": }"),
              "2:7: not valid JSON: syntax error while parsing value - unexpected '}'; expected "
              "'[', '{', or a literal");
    EXPECT_THAT(complaint("{\"a\": \"d:\\home\"}"), StartsWith("1:11: not valid JSON: "));
    EXPECT_THAT(complaint("{\"a\": \"d:\\home\"}"),
                HasSubstr("forbidden character after backslash; last read: '\"d:\\h'"));
    EXPECT_THAT(complaint("[\n\"gr\xfc\xdf\"]"), StartsWith("2:4: not valid JSON: "));
    EXPECT_THAT(complaint("[\n\"gr\xfc\xdf\"]"), HasSubstr("ill-formed UTF-8 byte"));
    EXPECT_THAT(complaint("[\"a: b\": 1]"), HasSubstr("unexpected ':'")) << "a colon in the text";
    EXPECT_THAT(complaint(""), StartsWith("1:1: not valid JSON: "));
    EXPECT_THAT(complaint("[1,"), HasSubstr("unexpected end of input"));
}

TEST(JsonText, ANumberTooLargeHasAPlace) {
    EXPECT_EQ(complaint("{\n  \"a\": 1e400}"),
              "2:8: not valid JSON: the number 1e400 is too large");
    EXPECT_EQ(complaint("[1, -1e999 ]"), "1:5: not valid JSON: the number -1e999 is too large");
    EXPECT_EQ(complaint("1e400"), "1:1: not valid JSON: the number 1e400 is too large");
}

TEST(JsonText, OfALongTextItsEndIsShown) {
    const std::string told = complaint("\"" + std::string(5000, 'x') + "\\h\"");
    EXPECT_LT(told.size(), 250u);
    EXPECT_THAT(told, EndsWith("x\\h'"));
}

TEST(JsonText, AKeyThatIsThereTwiceIsRefused) {
    EXPECT_EQ(complaint("{\"a\": 1,\n \"b\": {\"a\": 1}, \"a\": 2}"),
              "2:17: the key \"a\" is given twice");
    EXPECT_EQ(complaint("[{\"a\":1},{\"a\":1}]"), "[{\"a\":1},{\"a\":1}]");
    EXPECT_THAT(complaint("{\"a\":" + std::string(100000, '[')), HasSubstr("nested too deeply"));
}

TEST(JsonText, AByteOrderMarkIsNoText) {
    EXPECT_EQ(complaint("\xef\xbb\xbf{\"a\":1}"), "{\"a\":1}");
    EXPECT_THAT(complaint("\xef\xbb\xbf{]"), StartsWith("1:2: "));
}

TEST(JsonText, OnesOwnRulesStandInstead) {
    EXPECT_EQ(parse_json("{\"a\":1,\"a\":2}", nullptr).dump(), "{\"a\":2}");
    const auto no_b = [](int, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
        if (event == nlohmann::json::parse_event_t::key && parsed == "b") throw JsonRefusal{"no b"};
        return true;
    };
    try {
        parse_json("{\"a\":1,\n\"b\":2}", no_b);
        FAIL();
    } catch (const JsonError& error) {
        EXPECT_STREQ(error.what(), "no b");
        EXPECT_EQ(error.line, 2u);
    }
}

}  // namespace
}  // namespace assay
