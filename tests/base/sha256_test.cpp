// Test vectors of FIPS 180-4 (NIST's examples), and that pieces do not matter.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <system_error>

#include "suite/base/sha256.hpp"

namespace assay {
namespace {

TEST(Sha256, VectorsOfTheStandard) {
    EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(sha256_hex("abc"),
              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(
        sha256_hex(
            "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnop"
            "qrlmnopqrsmnopqrstnopqrstu"),
        "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
    EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, SplittingTheInputAnywhereChangesNothing) {
    std::string text;
    for (int i = 0; i < 200; ++i) text += static_cast<char>(i);
    for (std::size_t length = 0; length <= text.size(); ++length) {
        const auto whole = sha256_hex(text.substr(0, length));
        for (const std::size_t cut : {length / 3, length / 2, length - length / 7}) {
            Sha256 hash;
            hash.update(std::string_view(text).substr(0, cut));
            hash.update(std::string_view(text).substr(cut, length - cut));
            ASSERT_EQ(hash.hex(), whole) << length << " bytes cut at " << cut;
        }
    }
}

TEST(Sha256, FileLargerThanOnePiece) {
    std::string name = testing::TempDir() + "/sha256-XXXXXX";
    const int file = mkstemp(name.data());
    ASSERT_GE(file, 0);
    close(file);
    const std::string bytes(3'000'001, 'x');
    std::ofstream(name, std::ios::binary) << bytes;
    EXPECT_EQ(sha256_file_hex(name), sha256_hex(bytes));
    unlink(name.c_str());
    EXPECT_THROW(sha256_file_hex(name), std::system_error);
}

}  // namespace
}  // namespace assay
