// Programs kept for later nights: whole, or not run.
#include "suite/gate/kept_programs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/base/device_writes.hpp"
#include "tests/runner/temporary_folder.hpp"

namespace assay::gate {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class KeptProgramsTest : public ::testing::Test {
  protected:
    assay::testing::TemporaryFolder folder;
    const fs::path database = folder / "results.db";
    const fs::path builds = folder / "results.db.builds";
    const fs::path benchmark = folder / "kept_programs_benchmark";

    KeptProgramsTest() { std::ofstream(benchmark) << "#!/bin/sh\necho fast\n"; }

    std::string keep() const { return KeptPrograms(database).keep({benchmark}); }
    /// As a later process sees it.
    std::string damage(const std::string& name) const {
        const KeptPrograms programs(database);
        return programs.damage(programs.executable(name));
    }
};

TEST_F(KeptProgramsTest, WhatWasKeptIsWhole) {
    const std::string name = keep();
    EXPECT_THAT(damage(name), IsEmpty());
    EXPECT_TRUE(fs::exists(builds / name / "kept_programs_benchmark"));
    EXPECT_EQ(keep(), name) << "the same content, the same name";
    std::ofstream(benchmark, std::ios::app) << "sleep 1\n";
    EXPECT_NE(keep(), name);
    EXPECT_TRUE(KeptPrograms(database).executable("never-kept").empty());
}

TEST_F(KeptProgramsTest, WhatWasCutOffOrChangedIsDamagedUntilItIsKeptAnew) {
    const std::string name = keep();
    const fs::path program = builds / name / "assay";
    fs::resize_file(program, fs::file_size(program) / 2);
    EXPECT_THAT(damage(name), HasSubstr("cut off"));
    EXPECT_EQ(keep(), name);
    EXPECT_THAT(damage(name), IsEmpty());

    std::ofstream(builds / name / "kept_programs_benchmark") << "#!/bin/sh\necho slow\n";
    EXPECT_THAT(damage(name), HasSubstr(name));
    keep();
    fs::remove(builds / name / "kept_programs_benchmark");
    EXPECT_THAT(damage(name), HasSubstr(name)) << "a file less";
    keep();
    EXPECT_THAT(damage(name), IsEmpty());
}

TEST_F(KeptProgramsTest, EveryFileIsOnTheDeviceBeforeTheFolderHasItsName) {
    const std::string name = keep();
    fs::remove_all(builds);
    const DeviceWrites writes(builds / name);
    ASSERT_EQ(keep(), name);
    EXPECT_THAT(writes.before(), Contains("assay"));
    EXPECT_THAT(writes.before(), Contains("kept_programs_benchmark"));
    EXPECT_THAT(writes.after(), ::testing::ElementsAre("results.db.builds"));
}

}  // namespace
}  // namespace assay::gate
