#include "suite/base/input_file.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "suite/base/error.hpp"
#include "tests/base/temporary_folder.hpp"

namespace assay {
namespace {

const std::string mark(byte_order_mark);

std::string behind_mark(const std::string& text) {
    std::istringstream in(text);
    pass_over_byte_order_mark(in);
    return {std::istreambuf_iterator<char>(in), {}};
}

TEST(InputFileTest, AByteOrderMarkIsNoPartOfAText) {
    EXPECT_EQ(behind_mark(mark + "a"), "a");
    EXPECT_EQ(behind_mark(mark + mark + "a"), mark + "a") << "one";
    EXPECT_EQ(behind_mark(mark), "");
    for (const char* text : {"", "a", "\xef", "\xef\xbb",
                             "\xef\xbb"
                             "a",
                             "\xef"
                             "a",
                             "a\xef\xbb\xbf"})
        EXPECT_EQ(behind_mark(text), text);
    EXPECT_EQ(without_byte_order_mark(mark + "a"), "a");
    EXPECT_EQ(without_byte_order_mark("\xef\xbb"), "\xef\xbb");
}

TEST(InputFileTest, FilesAreReadBehindIt) {
    const testing::TemporaryFolder folder;
    const auto file = folder / "marked.txt";
    std::ofstream(file) << mark << "10 20";
    EXPECT_EQ(read_text_file(file), "10 20");
    EXPECT_EQ(InputFile("--loads", file.string()).text(), "10 20");
    EXPECT_EQ(read_text_file(folder.path()), std::nullopt);
    EXPECT_EQ(errno, EISDIR);
    EXPECT_EQ(read_text_file(folder / "none"), std::nullopt);
    EXPECT_EQ(errno, ENOENT);
}

TEST(InputFileTest, Utf16IsCalledThat) {
    const testing::TemporaryFolder folder;
    const auto file = (folder / "plan.txt").string();
    for (const std::string_view text : {"\xff\xfe"
                                        "1",
                                        "\xfe\xff"
                                        "1",
                                        "\xff\xfe"}) {
        std::ofstream(file) << text;
        EXPECT_THROW(InputFile("--text", file), UserError);
    }
    for (const std::string_view text : {"\xff",
                                        "\xfe"
                                        "1",
                                        "\xff\xff\xfe"}) {
        std::ofstream(file) << text;
        EXPECT_EQ(InputFile("--text", file).text(), text);
    }
}

}  // namespace
}  // namespace assay
