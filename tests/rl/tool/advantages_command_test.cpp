// assay rl advantages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "impls/rl/tool/tool.hpp"
#include "tests/rl/tool/given_command.hpp"

namespace assay::rl {
namespace {

using ::testing::HasSubstr;

class RlAdvantages : public GivenCommand {
  protected:
    RlAdvantages() : GivenCommand(make_advantages_command) {}
};

TEST_F(RlAdvantages, GroupsMayDifferInSize) {
    const char* const groups = R"({"rewards":[[3,1],[0.5],[0,0,0],[4,0,2]],"estimator":"rloo"})";
    EXPECT_EQ(printed(groups, {"--json"}),
              "{\"advantages\":[[2.0,-2.0],[0.0],[0.0,0.0,0.0],[3.0,-3.0,0.0]],"
              "\"mean\":[2.0,0.5,0.0,2.0],\"std\":[1.4142135623730951,0.0,0.0,2.0],"
              "\"zero_variance\":[false,true,true,false]}\n");
    EXPECT_EQ(printed(groups, {}),
              "group 1  mean 2  std 1.414  2 -2\n"
              "group 2  mean 0.5  std 0  all equal: no direction\n"
              "group 3  mean 0  std 0  all equal: no direction\n"
              "group 4  mean 2  std 2  3 -3 0\n");
}

TEST_F(RlAdvantages, EachEstimator) {
    const auto first = [this](const std::string& estimator) {
        return json(R"({"rewards":[[4,0,2]],"estimator":")" + estimator + "\"}")["advantages"][0][0]
            .get<double>();
    };
    EXPECT_DOUBLE_EQ(first("grpo"), 2 / 2.000001);
    EXPECT_DOUBLE_EQ(first("dr_grpo"), 2);
    EXPECT_DOUBLE_EQ(first("rloo"), 3);
}

TEST_F(RlAdvantages, BadInputIsRefused) {
    EXPECT_THAT(refusal(R"({"rewards":[[1],[]],"estimator":"grpo"})"),
                HasSubstr("standard input: \"rewards\", group 2: it is empty"));
    EXPECT_THAT(refusal(R"({"rewards":[],"estimator":"grpo"})"), HasSubstr("there is no group"));
    EXPECT_THAT(refusal(R"({"rewards":[[1,null]],"estimator":"grpo"})"),
                HasSubstr("group 1, response 2: null is given; give a number"));
    EXPECT_THAT(refusal(R"({"rewards":[1],"estimator":"grpo"})"), HasSubstr("group 1: 1 is given"));
    EXPECT_THAT(refusal(R"({"rewards":[[1]],"estimator":"ppo"})"),
                HasSubstr("give one of grpo, dr_grpo, rloo"));
    EXPECT_THAT(refusal(R"({"rewards":[[1]]})"), HasSubstr("\"estimator\" is missing"));
    EXPECT_THAT(refusal(R"({"estimator":"grpo"})"), HasSubstr("\"rewards\" is missing"));
    EXPECT_THAT(refusal(R"({"rewards":[[1]],"estimator":"grpo","group":2})"),
                HasSubstr("unknown key \"group\""));
    EXPECT_THAT(refusal(R"({"rewards":[[NaN]],"estimator":"grpo"})"),
                HasSubstr("standard input:1:14: not valid JSON"));
    EXPECT_THAT(refusal("{\"rewards\":[[1e999]]}"), HasSubstr("too large"));
    EXPECT_THAT(refusal(R"({"rewards":[[1],[1e308,1e308,0]],"estimator":"grpo"})"),
                HasSubstr("\"rewards\", group 2: the rewards of a group are too large"));
    EXPECT_THAT(refusal("[]"), HasSubstr("a list is given; give an object"));
    EXPECT_THAT(refusal(" \n"), HasSubstr("it is empty"));
}

}  // namespace
}  // namespace assay::rl
