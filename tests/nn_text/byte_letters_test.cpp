#include "impls/nn/text/byte_letters.hpp"

#include <gtest/gtest.h>

#include <set>

namespace assay::nn {
namespace {

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
