#include "impls/nn/text/character_class.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string_view>

#include "impls/nn/text/utf8.hpp"

namespace assay::nn {
namespace {

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

}  // namespace
}  // namespace assay::nn
