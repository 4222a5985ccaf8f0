// Fixture: a command of `assay rl` with a standard input.
#pragma once

#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/command_test.hpp"

namespace assay::rl {

class GivenCommand : public testing::CommandTest {
  protected:
    using CommandTest::CommandTest;

    std::string printed(const std::string& input, const std::vector<std::string>& arguments) const {
        const GivenInput given(input);
        return output(arguments);
    }
    nlohmann::json json(const std::string& input, std::vector<std::string> arguments = {}) const {
        arguments.emplace_back("--json");
        return nlohmann::json::parse(printed(input, arguments));
    }
    /// What it answers to bad input.
    std::string refusal(const std::string& input, std::vector<std::string> arguments = {}) const {
        arguments.emplace_back("--json");
        const GivenInput given(input);
        return error(arguments);
    }

  private:
    class GivenInput {
      public:
        explicit GivenInput(const std::string& input)
            : text_(input), before_(std::cin.rdbuf(text_.rdbuf())) {
            std::cin.clear();
        }
        ~GivenInput() {
            std::cin.rdbuf(before_);
            std::cin.clear();
        }
        GivenInput(const GivenInput&) = delete;
        GivenInput& operator=(const GivenInput&) = delete;

      private:
        std::istringstream text_;
        std::streambuf* before_;
    };
};

}  // namespace assay::rl
