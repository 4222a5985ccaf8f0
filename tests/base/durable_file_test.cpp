// Files and folders that appear whole.
#include "suite/base/durable_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/base/device_writes.hpp"
#include "tests/base/temporary_folder.hpp"

namespace assay {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

class Publish : public ::testing::Test {
  protected:
    testing::TemporaryFolder folder;

    static void write(const fs::path& file, const std::string& text) {
        std::ofstream(file, std::ios::binary) << text;
    }
    static std::string read(const fs::path& file) {
        std::ifstream in(file, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    std::string here() const { return folder.path().filename().string(); }
};

TEST_F(Publish, AFileIsOnTheDeviceBeforeItHasItsNameAndTheNameAfterwards) {
    write(folder / "aside", "new");
    const DeviceWrites writes(folder / "file");
    publish(folder / "aside", folder / "file");
    EXPECT_THAT(writes.before(), ElementsAre("aside"));
    EXPECT_THAT(writes.after(), ElementsAre(here()));
    EXPECT_EQ(read(folder / "file"), "new");
    EXPECT_FALSE(fs::exists(folder / "aside"));
}

TEST_F(Publish, AFileIsReplaced) {
    write(folder / "file", "old");
    write(folder / "aside", "new");
    publish(folder / "aside", folder / "file");
    EXPECT_EQ(read(folder / "file"), "new");
}

TEST_F(Publish, OfAFolderEveryFileIsOnTheDevice) {
    fs::create_directories(folder / "aside/deeper");
    write(folder / "aside/one", "1");
    write(folder / "aside/deeper/two", "2");
    const DeviceWrites writes(folder / "folder");
    publish(folder / "aside", folder / "folder");
    EXPECT_THAT(writes.before(), ElementsAre("aside", "deeper", "one", "two"));
    EXPECT_THAT(writes.after(), ElementsAre(here()));
    EXPECT_EQ(read(folder / "folder/deeper/two"), "2");
}

TEST_F(Publish, AFolderThatHoldsSomethingIsNotReplaced) {
    fs::create_directories(folder / "aside");
    fs::create_directories(folder / "folder");
    write(folder / "folder/old", "old");
    EXPECT_THROW(publish(folder / "aside", folder / "folder"), fs::filesystem_error);
    EXPECT_EQ(read(folder / "folder/old"), "old");
}

TEST_F(Publish, WhatIsNotThereIsNamed) {
    try {
        publish(folder / "nothing", folder / "file");
        FAIL() << "published nothing";
    } catch (const fs::filesystem_error& error) {
        EXPECT_THAT(error.what(), ::testing::HasSubstr("nothing"));
    }
}

TEST(MissingFolder, IsSaidWithWhatMakesIt) {
    const testing::TemporaryFolder folder;
    EXPECT_EQ(missing_folder("file"), "");
    EXPECT_EQ(missing_folder(folder / "file"), "");
    std::ofstream(folder / "file") << "content";
    EXPECT_EQ(missing_folder(folder / "file/in it"),
              (folder / "file").string() + " is a file, not a folder");
    EXPECT_EQ(missing_folder("no such/file"),
              "the folder no such does not exist; `mkdir -p 'no such'` makes it");
}

}  // namespace
}  // namespace assay
