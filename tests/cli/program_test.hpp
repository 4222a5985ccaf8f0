// Fixture of tests that give commands to a program of the build: with a database, a lock and a
// folder of their own.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/base/processes.hpp"
#include "tests/cli/program.hpp"

namespace assay::testing {

class ProgramTest : public ::testing::Test {
  protected:
    /// `program`: path of the executable.
    explicit ProgramTest(std::string program) : program_(std::move(program)) {}

    TemporaryFolder folder;
    EnvironmentVariable database{"ASSAY_DB", (folder / "results.db").string()};
    EnvironmentVariable lock{"ASSAY_LOCK", (folder / "lock").string()};
    EnvironmentVariable rounds{"ASSAY_ROUNDS_BUDGET", "0"};  ///< those of the profile
    EnvironmentVariable columns{"COLUMNS", ""};  ///< whatever the terminal of the tests has

    /// `meanwhile` gets the process id while it runs.
    Printed assay(std::vector<std::string> arguments,
                  const std::function<void(pid_t)>& meanwhile = {}) const {
        return run_program(program_, std::move(arguments), meanwhile);
    }
    /// With --json; what went wrong in words fails the test.
    nlohmann::json assay_json(std::vector<std::string> arguments) const {
        arguments.emplace_back("--json");
        const Printed printed = assay(std::move(arguments));
        EXPECT_EQ(printed.err.find("assay: "), std::string::npos) << printed.err;
        return nlohmann::json::parse(printed.out);
    }

  private:
    std::string program_;
};

}  // namespace assay::testing
