#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "impls/nn/text/unicode.hpp"

namespace assay::nn {
namespace {

std::string encoded(char32_t point) {
    const auto tail = [&](int shift) { return static_cast<char>(0x80 | (point >> shift & 0x3f)); };
    if (point < 0x80) return {static_cast<char>(point)};
    if (point < 0x800) return {static_cast<char>(0xc0 | point >> 6), tail(0)};
    if (point < 0x10000) return {static_cast<char>(0xe0 | point >> 12), tail(6), tail(0)};
    return {static_cast<char>(0xf0 | point >> 18), tail(12), tail(6), tail(0)};
}

TEST(Utf8, EveryCodePointAndNoSurrogate) {
    for (char32_t point = 0; point < 0x110000; ++point) {
        const std::string text = encoded(point);
        const CodePoint read = code_point_at(text, 0);
        if (point >= 0xd800 && point < 0xe000) {
            ASSERT_EQ(read.value, not_utf8);
            ASSERT_EQ(read.bytes, 1u);
        } else {
            ASSERT_EQ(read.value, point);
            ASSERT_EQ(read.bytes, text.size());
        }
    }
}

TEST(Utf8, WhatIsNoneIsOneByteEach) {
    // Lone continuation, overlong (2, 3, 4 bytes), above U+10FFFF, no such lead, truncated.
    for (const char* text :
         {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80",
          "\xf5\x80\x80\x80", "\xff", "\xc3", "\xe4\xbd", "\xf0\x9f\x98",
          "\xc3"
          "a",
          "\xe4"
          "ab",
          "\xe4\xbd"
          "a"}) {
        const CodePoint read = code_point_at(text, 0);
        EXPECT_EQ(read.value, not_utf8) << text;
        EXPECT_EQ(read.bytes, 1u) << text;
    }
    EXPECT_EQ(code_point_at("a\xe4\xbd\xa0", 1).value, 0x4f60u);
}

using enum CharacterClass;

void expect_class(std::u32string_view characters, CharacterClass expected) {
    for (const char32_t c : characters) EXPECT_EQ(character_class(c), expected) << std::uint32_t{c};
}

TEST(CharacterClass, Examples) {
    expect_class(U"azAZ\u00aa\u00e9\u01c5\u02b0\u03a3\u0436\u05d0\u4f60\uac00\U0001d400", letter);
    expect_class(U"09\u00b2\u00bd\u0663\u2167\u2460\u3007\U0001d7d8", number);
    expect_class(U"\t\n\v\f\r \u0085\u00a0\u1680\u2003\u2028\u2029\u202f\u205f\u3000", space);
    expect_class(U"\x01\x1c\x1f!'_~\u00ad\u0301\u200b\u200d\u20ac\u2117\ufeff\ufffd\U0001f600",
                 other);
}

// Counts of the general categories in Unicode 16.0, by the package unicodedata2 16.0.0.
TEST(CharacterClass, CountsOfUnicode16) {
    std::map<CharacterClass, int> counts;
    for (char32_t point = 0; point < 0x110000; ++point) ++counts[character_class(point)];
    EXPECT_EQ(counts[letter], 141028);
    EXPECT_EQ(counts[number], 1911);
    EXPECT_EQ(counts[space], 25);
}

TEST(CharacterClass, WhatIsNotUtf8IsOther) { EXPECT_EQ(character_class(not_utf8), other); }

TEST(ComposedForm, OfEveryCodePointStaysItself) {
    for (char32_t point = 0; point < 0x110000; ++point) {
        if (point >= 0xd800 && point < 0xe000) continue;
        const std::string composed = composed_form(encoded(point));
        ASSERT_FALSE(composed.empty()) << static_cast<std::uint32_t>(point);
        ASSERT_EQ(composed_form(composed), composed) << static_cast<std::uint32_t>(point);
    }
}

// Further texts: the goldens of Qwen2's tokenizer.
TEST(ComposedForm, BytesThatAreNotUtf8AreKeptAndPartTexts) {
    EXPECT_EQ(composed_form(""), "");
    EXPECT_EQ(composed_form("e\u0301"), "\u00e9");
    EXPECT_EQ(composed_form("\xff"
                            "e\u0301\xc3"),
              "\xff\u00e9\xc3");
    EXPECT_EQ(composed_form("e\x80\u0301"), "e\x80\u0301");
    EXPECT_EQ(composed_form(std::string("\0e\u0301", 4)), std::string("\0\u00e9", 3));
}

TEST(ByteLetters, KnownOnes) {
    EXPECT_EQ(to_byte_letters("a b\n"), "a\u0120b\u010a");
    EXPECT_EQ(to_byte_letters("\xc3\xa9"), "\u00c3\u00a9");            // é
    EXPECT_EQ(to_byte_letters("\x7f\xa0\xad"), "\u0121\u0142\u0143");  // the last three
    EXPECT_EQ(to_byte_letters(std::string("\0~!", 3)), "\u0100~!");
}

TEST(ByteLetters, EveryByteHasItsOwn) {
    std::set<std::string> letters;
    for (int byte = 0; byte < 256; ++byte) {
        const std::string text(1, static_cast<char>(byte));
        letters.insert(to_byte_letters(text));
        EXPECT_EQ(from_byte_letters(to_byte_letters(text)), text);
    }
    EXPECT_EQ(letters.size(), 256u);
}

TEST(ByteLetters, OtherCharactersAreNone) {
    for (const char* written :
         {" ", "a b", "\n", "\u0144", "\u00ad", "\u4f60", "\xff", "\xc3", "a\x7f"})
        EXPECT_EQ(from_byte_letters(written), std::nullopt) << written;
}

}  // namespace
}  // namespace assay::nn
