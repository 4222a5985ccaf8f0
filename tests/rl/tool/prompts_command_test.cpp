// assay rl prompts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "impls/rl/tasks/task.hpp"
#include "impls/rl/tool/tool.hpp"
#include "tests/rl/tool/given_command.hpp"

namespace assay::rl {
namespace {

class RlPrompts : public GivenCommand {
  protected:
    RlPrompts() : GivenCommand(make_prompts_command) {}
};

TEST_F(RlPrompts, FewerAreThePrefixOfMore) {
    const auto some = json("", {"sort", "--difficulty", "3", "--seed", "4", "--count", "7"});
    const auto more = json("", {"sort", "--difficulty", "3", "--seed", "4", "--count", "200"});
    ASSERT_EQ(some.size(), 7U);
    ASSERT_EQ(more.size(), 200U);
    EXPECT_EQ(some, nlohmann::json(std::vector(more.begin(), more.begin() + 7)));
    EXPECT_NE(some, json("", {"sort", "--difficulty", "3", "--seed", "5", "--count", "7"}));
    int held_out = 0;
    for (const auto& each : more) {
        EXPECT_EQ(each.size(), 2U);
        EXPECT_EQ(each["answer"],
                  tasks::answer_to(tasks::Task::sort, 3, each["prompt"].get<std::string>()));
        held_out += tasks::is_held_out(each["prompt"].get<std::string>());
    }
    EXPECT_GT(held_out, 0);  // a plain sequence, of both splits
    EXPECT_LT(held_out, 100);
    EXPECT_EQ(json("", {"sort", "--difficulty", "3", "--count", "0"}), nlohmann::json::array());
}

TEST_F(RlPrompts, InJsonAndForPeople) {
    const std::vector<std::string> arguments{"tag", "--difficulty", "1", "--seed",
                                             "2",   "--count",      "1"};
    const auto asked = tasks::question(tasks::Task::tag, 1, 2, 0);
    EXPECT_EQ(printed("", arguments), asked.prompt + asked.answer + "\n");
    auto as_json = arguments;
    as_json.emplace_back("--json");
    EXPECT_EQ(printed("", as_json),
              R"([{"prompt":")" + asked.prompt + R"(","answer":")" + asked.answer + "\"}]\n");
}

TEST_F(RlPrompts, UnknownTasksAndDifficultiesAreRefused) {
    EXPECT_THROW(json("", {"copy", "--difficulty", "1"}), CLI::Error);
    EXPECT_THROW(json("", {"add"}), CLI::Error);
    for (const char* difficulty : {"0", "13", "-1", "two"})
        EXPECT_THROW(json("", {"add", "--difficulty", difficulty}), CLI::Error) << difficulty;
    EXPECT_THROW(json("", {"add", "--difficulty", "1", "--count", "-1"}), CLI::Error);
    EXPECT_THROW(json("", {"add", "--difficulty", "1", "--seed", "-1"}), CLI::Error);
}

}  // namespace
}  // namespace assay::rl
