// A system's command (assay::Command) run in the test's own process, in a folder of its own.
#pragma once

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "suite/base/error.hpp"
#include "suite/experiment/system.hpp"

namespace assay::testing {

class CommandTest : public ::testing::Test {
  protected:
    using Maker = std::unique_ptr<Command> (*)();
    explicit CommandTest(Maker make) : make_(make) {
        std::string pattern =
            (std::filesystem::temp_directory_path() / "assay-command-XXXXXX").string();
        folder_ = mkdtemp(pattern.data());
    }
    ~CommandTest() override { std::filesystem::remove_all(folder_); }

    /// What the command prints. Arguments as on the command line, after the command's name.
    std::string output(std::vector<std::string> arguments) const {
        const std::unique_ptr<Command> command = make_();
        CLI::App app;
        command->options(app);
        std::reverse(arguments.begin(), arguments.end());  // what CLI11 wants
        app.parse(arguments);
        ::testing::internal::CaptureStdout();
        int code = -1;
        try {
            code = command->run();
        } catch (...) {
            ::testing::internal::GetCapturedStdout();
            throw;
        }
        EXPECT_EQ(code, 0);
        return ::testing::internal::GetCapturedStdout();
    }

    /// What it answers to bad input.
    std::string error(const std::vector<std::string>& arguments) const {
        try {
            output(arguments);
        } catch (const UserError& error) {
            return error.what();
        }
        return "no error";
    }

    std::filesystem::path folder_;

  private:
    Maker make_;
};

}  // namespace assay::testing
