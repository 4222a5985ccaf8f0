#include "suite/measure/build_info.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <set>
#include <string>

namespace assay::measure {

TEST(BuildInfo, EveryOptionalPartIsNamedOnceWithASentence) {
    std::set<std::string> names;
    for (const BuildPart& part : build_info().parts) {
        EXPECT_TRUE(names.insert(part.name).second) << part.name;
        ASSERT_FALSE(part.says.empty()) << part.name;
        EXPECT_EQ(part.says.back(), '.') << part.says;
    }
    EXPECT_EQ(names,
              (std::set<std::string>{"torch", "gloo", "benchmark", "cuda", "simgrid", "qt"}));
}

TEST(BuildInfo, TorchVersionIsKnownExactlyWhenTorchIsBuiltIn) {
    const BuildInfo info = build_info();
    EXPECT_EQ(info.parts.front().state == BuildPart::State::built_in, !info.torch.empty());
    EXPECT_FALSE(info.compiler.empty());
    EXPECT_FALSE(info.version.empty());
}

TEST(BuildId, IsTheOneTheLinkerWroteIntoThisProgram) {
    const std::string id = build_id();
    EXPECT_EQ(id.size(), 40u);
    EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), std::string::npos);
    FILE* readelf =
        popen(("readelf -n /proc/" + std::to_string(getpid()) + "/exe 2>&1").c_str(), "r");
    ASSERT_NE(readelf, nullptr);
    std::string notes;
    for (char piece[512]; std::fgets(piece, sizeof piece, readelf);) notes += piece;
    if (pclose(readelf) != 0) GTEST_SKIP() << "readelf is not installed";
    EXPECT_NE(notes.find("Build ID: " + id), std::string::npos) << notes;
}

TEST(BuildId, IsReadFromAFileToo) {
    EXPECT_EQ(build_id_of("/proc/self/exe"), build_id());
    EXPECT_EQ(build_id_of("/proc/self/cmdline"), "");
    EXPECT_EQ(build_id_of("/nonexistent"), "");
}

}  // namespace assay::measure
