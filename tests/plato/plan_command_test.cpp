// `assay plan plato --text`: what a model wrote is printed, and an empty text is none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "impls/plato/commands/plan_command.hpp"
#include "tests/cli/command_test.hpp"

namespace assay::plato {
namespace {

using ::testing::HasSubstr;

class PlatoPlanCommand : public assay::testing::CommandTest {
  protected:
    PlatoPlanCommand() : CommandTest(make_plan_command) {}

    std::string file(const std::string& text) const {
        const std::string name = (folder_ / "plan.txt").string();
        std::ofstream(name) << text;
        return name;
    }
};

TEST_F(PlatoPlanCommand, TitlesReachNoTerminalAsTheyAre) {
    const std::string plan = file("1. A\x1b[31mred\x07 | deps: -\n2. B | deps: 1\nEND\n");
    EXPECT_EQ(output({"--text", plan}), "   1  A\\x1b[31mred\\x07\n   2  B  (after 1)\n");
    const auto read = nlohmann::json::parse(output({"--text", plan, "--json"}));
    EXPECT_EQ(read["nodes"][0]["title"], "A\x1b[31mred\x07");
}

TEST_F(PlatoPlanCommand, PlansInNumbersHaveIdsOfOthers) {
    const std::string plans = file(
        R"({"id":"w\u001b\n01","question_tokens":10,"static_plan_tokens":20,"static_node_tokens":5,)"
        R"("nodes":[{"i":1,"line_tokens":3,"lead_tokens":2,"out_tokens":4,"deps":[]}]})"
        "\n");
    EXPECT_THAT(output({"--plans", plans, "--step-ms", "2,1", "--prefill-ms", "1"}),
                HasSubstr("\nw\\x1b\\n01 "));
}

TEST_F(PlatoPlanCommand, AnEmptyTextIsNoPlan) {
    for (const char* text : {"", " \n\t\r\n"})
        EXPECT_THAT(error({"--text", file(text)}), HasSubstr("plan.txt: it is empty"));
}

}  // namespace
}  // namespace assay::plato
