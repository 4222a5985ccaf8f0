#include "suite/base/build_folder.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/base/temporary_folder.hpp"

namespace assay {
namespace {

namespace fs = std::filesystem;

TEST(BuildFolder, IsAboveTheFolderOfItsPrograms) {
    const testing::TemporaryFolder folder;
    const fs::path build = folder.path() / "build";
    fs::create_directories(build / "bin");
    fs::create_directories(build / "install/bin");
    EXPECT_EQ(build_folder(build / "bin"), fs::path()) << "nothing is configured";
    std::ofstream(build / "CMakeCache.txt") << "\n";
    EXPECT_EQ(build_folder(build / "bin"), build);
    EXPECT_EQ(build_folder(build / "install/bin"), fs::path()) << "what is installed below it";
    EXPECT_EQ(build_folder(""), fs::path());
}

TEST(BuildFolder, TheCommandNamesItAsSeenFromHere) {
    const testing::TemporaryFolder folder;
    fs::create_directories(folder.path() / "build/cpu/CMakeFiles");
    std::ofstream(folder.path() / "build/cpu/CMakeFiles/TargetDirectories.txt")
        << "/a/CMakeFiles/assay.dir\n/a/gui/CMakeFiles/assay-gui.dir\n";
    const fs::path build = folder.path() / "build/cpu", before = fs::current_path();
    EXPECT_EQ(build_command(build, {"assay-gui", "assay"}),
              "`cmake --build " + build.string() + " --target assay-gui assay`");
    fs::current_path(folder.path());
    EXPECT_EQ(build_command(build, {"assay-gui"}), "`cmake --build build/cpu --target assay-gui`");
    fs::current_path(before);
    EXPECT_EQ(build_command(build, {"assay", "gui"}), std::nullopt) << "no target of it";
    EXPECT_EQ(build_command("", {"assay"}), std::nullopt);
}

}  // namespace
}  // namespace assay
