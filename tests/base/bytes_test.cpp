// Shared bytes: buffers, files, and lengths without content.
#include "suite/base/bytes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include "suite/base/error.hpp"
#include "tests/base/temporary_folder.hpp"

namespace assay {
namespace {

std::string text_of(const Bytes& bytes) {
    const auto view = bytes.view();
    return {reinterpret_cast<const char*>(view.data()), view.size()};
}

TEST(Bytes, CopiesOfABufferShareItsContent) {
    const Bytes a = Bytes::of({std::byte{'a'}, std::byte{'b'}}), b = a;
    b.writable()[1] = std::byte{'c'};
    EXPECT_EQ(text_of(a), "ac");
    EXPECT_EQ(a.size(), 2u);
    EXPECT_EQ(a.file(), -1);
    EXPECT_EQ(text_of(Bytes::zeros(3)), std::string(3, '\0'));
    EXPECT_EQ(text_of(Bytes::zeros(0)), "");
    EXPECT_TRUE(Bytes::zeros(0).writable().empty());
}

TEST(Bytes, AFileIsReadAndNotWritten) {
    testing::TemporaryFolder folder;
    std::ofstream(folder / "some") << "some text";
    std::ofstream(folder / "none").flush();
    const Bytes some = Bytes::of_file(folder / "some"), none = Bytes::of_file(folder / "none");
    std::ofstream(folder / "new") << "another one";
    std::filesystem::rename(folder / "new", folder / "some");
    EXPECT_EQ(text_of(some), "some text") << "the file that had the name";
    EXPECT_GE(some.file(), 0);
    EXPECT_THROW(some.writable(), std::logic_error);
    EXPECT_FALSE(some.is_writable());
    EXPECT_EQ(text_of(none), "");
    EXPECT_FALSE(none.is_writable());
    EXPECT_THROW(Bytes::of_file(folder / "missing"), UserError);
    EXPECT_THROW(Bytes::of_file(folder.path()), UserError);
}

TEST(Bytes, ALengthHasNoContent) {
    const Bytes length = Bytes::length_only(std::uint64_t{1} << 50);
    EXPECT_EQ(length.size(), std::uint64_t{1} << 50);
    EXPECT_FALSE(length.has_content());
    EXPECT_THROW(length.view(), std::logic_error);
    EXPECT_THROW(length.writable(), std::logic_error);
    EXPECT_TRUE(Bytes::length_only(0).view().empty());
}

TEST(Bytes, RangesLieWithinOrNot) {
    const Bytes ten = Bytes::length_only(10);
    EXPECT_TRUE(ten.holds(0, 10) && ten.holds(10, 0) && ten.holds(4, 6));
    EXPECT_FALSE(ten.holds(0, 11) || ten.holds(11, 0) || ten.holds(5, 6));
    EXPECT_FALSE(ten.holds(2, ~std::uint64_t{0}) || ten.holds(~std::uint64_t{0}, 2));
}

}  // namespace
}  // namespace assay
