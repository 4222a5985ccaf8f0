// Texts that other programs read back, and durations and sizes as people do.
#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

#include "suite/base/encoding.hpp"
#include "suite/base/quantity_text.hpp"

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

TEST(CsvLine, QuotesWhatMustBe) {
    EXPECT_EQ(csv_line({"a", "", "b c"}), "a,,b c\n");
    EXPECT_EQ(csv_line({"a,b", "say \"yes\"", "two\nlines", "\r"}),
              "\"a,b\",\"say \"\"yes\"\"\",\"two\nlines\",\"\r\"\n");
}

TEST(ShellQuoting, OnlyWhatNeedsIt) {
    EXPECT_EQ(shell_quoted("lazarus/fig8"), "lazarus/fig8");
    EXPECT_EQ(shell_quoted("kill:rank=1@step=5"), "kill:rank=1@step=5");
    EXPECT_EQ(shell_quoted(""), "''");
    EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
    EXPECT_EQ(shell_quoted("it's\x1b[0m\n"), "$'it\\'s\\x1b[0m\\x0a'");
    const char* const argv[] = {"assay", "run", "lazarus/fig*"};
    EXPECT_EQ(shell_quoted(3, argv), "assay run 'lazarus/fig*'");
}

TEST(Durations, ReadWell) {
    EXPECT_EQ(duration_text(0.05), "0.05 s");
    EXPECT_EQ(duration_text(43.2), "43 s");
    EXPECT_EQ(duration_text(720), "12 min");
    EXPECT_EQ(duration_text(12600), "3.5 h");
    EXPECT_EQ(bytes_text(12000), "12 kB");
    EXPECT_EQ(bytes_text(3.4e9), "3.4 GB");
}

}  // namespace
}  // namespace assay
