// assay rl score.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "impls/rl/tool/tool.hpp"
#include "tests/rl/tool/given_command.hpp"

namespace assay::rl {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class RlScore : public GivenCommand {
  protected:
    RlScore() : GivenCommand(make_score_command) {}
};

constexpr const char* responses =
    "{\"prompt\":\"tag 1+2=\",\"response\":\"<a>3</a>\"}\n"
    "\n"
    "{\"prompt\":\"tag 1+2=\",\"response\":\"<a>4</a>\",\"step\":7}\r\n"
    "{\"prompt\":\"tag 9+9=\",\"response\":\"18\"}\n"
    "{\"prompt\":\"tag 9+9=\",\"response\":\"<a>18</a>\\n\"}\n"
    "{\"prompt\":\"tag 9+9=\",\"response\":\"\"}";

TEST_F(RlScore, ARewardForEachLine) {
    EXPECT_EQ(printed(responses, {"tag", "--difficulty", "1", "--json"}),
              "{\"rewards\":[1.0,0.2,0.0,0.0,0.0]}\n");
    EXPECT_EQ(json(R"({"prompt":"sort 310=","response":"013"})", {"sort", "--difficulty", "3"}),
              (nlohmann::json{{"rewards", {1.0}}}));
}

TEST_F(RlScore, ForPeople) {
    EXPECT_EQ(printed(responses, {"tag", "--difficulty", "1"}),
              "  1  tag 1+2=<a>3</a>\n"
              "0.2  tag 1+2=<a>4</a>\n"
              "  0  tag 9+9=18\n"
              "  0  tag 9+9=<a>18</a>\\n\n"
              "  0  tag 9+9=\n"
              "mean 0.24 of 5 responses\n");
}

TEST_F(RlScore, BadInputIsRefusedWithItsLine) {
    const auto refused = [this](const std::string& input) {
        return refusal(input, {"add", "--difficulty", "1"});
    };
    const std::string right = "{\"prompt\":\"1+2=\",\"response\":\"3\"}\n";
    EXPECT_THAT(refused(right + R"({"prompt":"12+2=","response":"14"})"),
                StartsWith("standard input:2: \"12+2=\" is no prompt of task add"));
    EXPECT_THAT(refused(right + "\n{\"prompt\":\"1+2=\",}"), StartsWith("standard input:3:18: "));
    EXPECT_THAT(refused(R"({"prompt":"1+2="})"), HasSubstr("\"response\" must be there"));
    EXPECT_THAT(refused(R"({"prompt":1,"response":"3"})"), HasSubstr("\"prompt\" must be there"));
    EXPECT_THAT(refused(R"(["1+2=","3"])"), HasSubstr("a list is given; give an object"));
    EXPECT_THAT(refused(""), HasSubstr("standard input: it has no response"));
    EXPECT_THAT(refused(" \n\n"), HasSubstr("it has no response"));
    EXPECT_THROW(json(right, {"copy", "--difficulty", "1"}), CLI::Error);
}

}  // namespace
}  // namespace assay::rl
