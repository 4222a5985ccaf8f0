// Programs kept for later nights: whole, or not run.
#include "suite/gate/kept_programs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

#include "suite/gate/benchmark_experiment.hpp"
#include "tests/base/device_writes.hpp"
#include "tests/base/temporary_folder.hpp"

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
    EXPECT_TRUE(fs::exists(builds / name / kept_benchmark_name(benchmark)));
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

    std::ofstream(builds / name / kept_benchmark_name(benchmark)) << "#!/bin/sh\necho slow\n";
    EXPECT_THAT(damage(name), HasSubstr(name));
    keep();
    fs::remove(builds / name / kept_benchmark_name(benchmark));
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
    EXPECT_THAT(writes.before(), Contains(kept_benchmark_name(benchmark)));
    EXPECT_THAT(writes.after(), ::testing::ElementsAre("results.db.builds"));
}

TEST_F(KeptProgramsTest, OthersAreRemovedOnceTheyAreADayOld) {
    const std::string wanted = keep();
    std::ofstream(benchmark, std::ios::app) << "sleep 1\n";
    const std::string other = keep(), half_made = other + ".4711";
    fs::create_directory(builds / half_made);
    const KeptPrograms programs(database);
    EXPECT_EQ(programs.keep_only({wanted}), 0) << "nights that are about to begin";
    EXPECT_TRUE(fs::exists(builds / half_made));
    const auto age = [&](const std::string& name) {
        fs::last_write_time(builds / name,
                            fs::file_time_type::clock::now() - std::chrono::hours(25));
    };
    for (const std::string& name : {wanted, other, half_made}) age(name);
    ASSERT_EQ(keep(), other) << "kept long ago, and about to be of use again";
    EXPECT_EQ(programs.keep_only({wanted}), 1);
    EXPECT_FALSE(fs::exists(builds / half_made));
    EXPECT_THAT(damage(other), IsEmpty());
    age(other);
    EXPECT_EQ(programs.keep_only({wanted}), 1);
    EXPECT_TRUE(programs.executable(other).empty());
    EXPECT_FALSE(programs.executable(wanted).empty());
}

TEST_F(KeptProgramsTest, ProgramsOfOneFileNameAreKeptApart) {
    fs::create_directory(folder / "other");
    const fs::path other = folder / "other/kept_programs_benchmark";
    fs::copy_file(benchmark, other);
    const std::string name = KeptPrograms(database).keep({benchmark, other});
    for (const fs::path& program : {benchmark, other})
        EXPECT_TRUE(fs::exists(builds / name / kept_benchmark_name(program))) << program;
    EXPECT_THAT(programs_text({benchmark}), HasSubstr(", " + benchmark.string() + " "));
}

TEST_F(KeptProgramsTest, ABareNameIsLookedForBesideAndInThePathAPathIsItself) {
    fs::permissions(benchmark, fs::perms::owner_all);
    const std::string name = benchmark.filename().string();
    EXPECT_EQ(find_benchmark_program(name), name) << "nowhere";
    const assay::testing::EnvironmentVariable path("PATH", folder.path().string());
    EXPECT_EQ(find_benchmark_program(name), benchmark);
    EXPECT_EQ(kept_benchmark_name(name), name);
    EXPECT_EQ(find_benchmark_program("/nonexistent/" + name), "/nonexistent/" + name);
    const fs::path self = fs::read_symlink("/proc/self/exe");
    EXPECT_EQ(find_benchmark_program(self.filename()), self);
    EXPECT_EQ(find_benchmark_program(folder.path() / self.filename()),
              folder.path() / self.filename());
}

TEST_F(KeptProgramsTest, DamageIsRememberedUntilItIsLookedForAgain) {
    const std::string name = keep();
    const KeptPrograms programs(database);
    const fs::path program = programs.executable(name);
    EXPECT_THAT(programs.damage(program), IsEmpty());
    fs::resize_file(program, 1000);
    EXPECT_THAT(programs.damage(program), IsEmpty());
    programs.look_again();
    EXPECT_THAT(programs.damage(program), HasSubstr("cut off"));
}

}  // namespace
}  // namespace assay::gate
