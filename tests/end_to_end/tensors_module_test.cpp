// The program links no libtorch: its module does, which what needs tensors opens. With copies of
// both, as a kept program or another build has them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/base/processes.hpp"
#include "tests/cli/program_test.hpp"

namespace assay::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class TensorsModuleTest : public ProgramTest {
  protected:
    TensorsModuleTest() : ProgramTest(program().string()) {
        fs::create_directory(program().parent_path());
        fs::copy_file(ASSAY_PROGRAM, program());
        std::ofstream text(folder / "text");
        for (int line = 0; line < 2000; ++line) text << "and the line after it is " << line << '\n';
    }
    ~TensorsModuleTest() override { fs::remove_all(program().parent_path()); }

    static fs::path program() {
        return fs::temp_directory_path() / ("assay-module-test-" + std::to_string(::getpid())) /
               "assay";
    }
    static fs::path module() { return program().parent_path() / "libassay_tensors.so"; }
    static void put_module() {
        fs::copy_file(ASSAY_MODULE, module(), fs::copy_options::overwrite_existing);
    }
    static void put_another_module() {
        std::ofstream(program().parent_path() / "newer") << "of another build";
        fs::rename(program().parent_path() / "newer", module());
    }
    /// A training at its smallest, some seconds.
    std::vector<std::string> training(const char* rounds = "1") const {
        return {"run",      "lte/x_schedule", "-a",         "model=gpt-tiny",
                "-a",       "sparsity=0.5",   "-a",         "corpus=" + (folder / "text").string(),
                "--rounds", rounds,           "--no-doctor"};
    }
    /// What the loader reports of every process that the command starts.
    std::vector<std::string> loaded_by(const std::vector<std::string>& arguments) const {
        const fs::path reports = folder / "loaded";
        fs::create_directory(reports);
        std::vector<std::string> texts;
        {
            const EnvironmentVariable what("LD_DEBUG", "files");
            const EnvironmentVariable where("LD_DEBUG_OUTPUT", (reports / "by").string());
            EXPECT_EQ(assay(arguments).exit_code, 0);
        }
        for (const auto& report : fs::directory_iterator(reports))
            texts.push_back(contents(report.path()));
        fs::remove_all(reports);
        return texts;
    }
};

TEST_F(TensorsModuleTest, WhatNeedsNoTensorsLoadsNoLibtorch) {
    put_module();
    const auto none =
        AllOf(HasSubstr("libc.so"), Not(HasSubstr("libtorch")), Not(HasSubstr("libassay_tensors")));
    for (const std::vector<std::string>& arguments :
         std::vector<std::vector<std::string>>{{"list"},
                                               {"claims"},
                                               {"describe", "lte/x_schedule"},
                                               {"run", "lte/tab1", "--no-doctor"},
                                               {"run", "lte/x_schedule", "--dry-run"}}) {
        const auto loaded = loaded_by(arguments);
        EXPECT_THAT(loaded, ::testing::Not(::testing::IsEmpty()));
        EXPECT_THAT(loaded, ::testing::Each(none)) << arguments[0];
    }
    // Tensors are for the sample's own process, not for the one that starts it.
    const auto loaded = loaded_by(training());
    EXPECT_THAT(loaded, ::testing::Contains(HasSubstr("libtorch_cpu")).Times(1));
    EXPECT_THAT(loaded, ::testing::Contains(none));
}

TEST_F(TensorsModuleTest, WithoutItsModuleItDoesTheRest) {
    const auto expect_refused = [&](const std::string& why) {
        const Printed run = assay(training());
        EXPECT_EQ(run.exit_code, 4) << run.out << run.err;
        EXPECT_THAT(run.out + run.err, HasSubstr(module().string() + why));
        EXPECT_EQ(assay({"list"}).exit_code, 0);
        EXPECT_EQ(assay_json({"run", "lte/tab1", "--no-doctor"})["samples"][0]["status"], "ok");
    };
    expect_refused(" is missing");
    put_another_module();
    expect_refused(" is of another build");
    put_module();
    EXPECT_EQ(assay_json(training())["samples"][0]["status"], "ok");
}

TEST_F(TensorsModuleTest, ARunGoesOnWithItsOwnModuleWhenTheBuildReplacesIt) {
    put_module();
    const auto holds_it = [](pid_t pid) {
        std::error_code none;
        for (const auto& fd : fs::directory_iterator("/proc/" + std::to_string(pid) + "/fd", none))
            if (fs::read_symlink(fd.path(), none) == module()) return true;
        return false;
    };
    const Printed printed = assay(training("2"), [&](pid_t pid) {
        EXPECT_TRUE(eventually([&] { return holds_it(pid); }));
        put_another_module();  // long before the first sample ends
    });
    EXPECT_EQ(printed.exit_code, 0) << printed.err;
    EXPECT_EQ(assay(training("1")).exit_code, 4) << "the next one finds another";
}

}  // namespace
}  // namespace assay::testing
