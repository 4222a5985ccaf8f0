#include "impls/nn/text/utf8.hpp"

#include <gtest/gtest.h>

#include <string>

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

}  // namespace
}  // namespace assay::nn
