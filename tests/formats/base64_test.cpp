#include "suite/formats/base64.hpp"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

namespace assay {
namespace {

TEST(Base64, OfTheSpecificationAndBack) {
    // RFC 4648, section 10.
    for (const auto& [bytes, text] :
         std::vector<std::pair<std::string, std::string>>{{"", ""},
                                                          {"f", "Zg=="},
                                                          {"fo", "Zm8="},
                                                          {"foo", "Zm9v"},
                                                          {"foob", "Zm9vYg=="},
                                                          {"fooba", "Zm9vYmE="},
                                                          {"foobar", "Zm9vYmFy"}}) {
        EXPECT_EQ(to_base64(bytes), text);
        EXPECT_EQ(from_base64(text), bytes);
    }
}

TEST(Base64, RandomBytesComeBack) {
    std::mt19937 random(7);
    for (std::size_t size = 0; size < 50; ++size) {
        std::string bytes;
        for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(random());
        EXPECT_EQ(from_base64(to_base64(bytes)), bytes);
    }
}

TEST(Base64, NothingElseIsRead) {
    for (const char* wrong :
         {"A", "A===", "AB=C", "====", "Zg=", "Z===", "Zg==Zg==", "Z g=", "Zm9\n", "Zm9\xff"})
        EXPECT_FALSE(from_base64(wrong)) << wrong;
}

}  // namespace
}  // namespace assay
