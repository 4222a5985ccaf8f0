// assay rl loss.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "impls/rl/tool/tool.hpp"
#include "tests/rl/tool/given_command.hpp"

namespace assay::rl {
namespace {

using ::testing::HasSubstr;

class RlLoss : public GivenCommand {
  protected:
    RlLoss() : GivenCommand(make_loss_command) {}

    /// A right request; each test changes what it is about.
    nlohmann::json request{{"new", {{-1, -2}, {-0.5}}},
                           {"old", {{-1, -2}, {-0.5}}},
                           {"advantages", {2, -1}},
                           {"clip", {0.2, 0.2}},
                           {"aggregate", "token"}};

    nlohmann::json answer() const { return json(request.dump()); }
    std::string refused(const char* key, const nlohmann::json& value) const {
        auto wrong = request;
        wrong[key] = value;
        return refusal(wrong.dump());
    }
    std::string refused_without(const char* key) const {
        auto wrong = request;
        wrong.erase(key);
        return refusal(wrong.dump());
    }
};

TEST_F(RlLoss, InJsonAndForPeople) {
    const std::string given =
        R"({"new":[[-1,-2],[-0.5]],"old":[[-1,-2],[-0.5]],"advantages":[2,-1],"clip":[0.2,0.2],)"
        R"("mask":[[1,0],[1]],"aggregate":"token"})";
    EXPECT_EQ(printed(given, {"--json"}),
              "{\"loss\":-0.5,\"gradient\":[[-1.0,0.0],[0.5]],\"clipped_share\":0.0,\"kl\":0.0}\n");
    EXPECT_EQ(printed(given, {}), "loss     -0.5\nclipped  0.0 % of the tokens\n");
}

TEST_F(RlLoss, EveryOption) {
    request["new"] = {{-1 + std::log(1.5), -2 + std::log(4.0)}, {-0.5}};
    request["old"] = {{-1, -4}, {-0.5}};
    request["ref"] = {{-1 + std::log(1.5), -2 + std::log(4.0)}, {-0.5 - std::log(2.0)}};
    request["clip"] = {0.1, 0.25};
    request["advantages"] = {2, -4};
    EXPECT_NEAR(answer()["loss"], (-2 * 1.25 - 2 * 1.25 + 4) / 3, 1e-12);
    EXPECT_NEAR(answer()["clipped_share"], 2.0 / 3, 1e-12);
    EXPECT_EQ(answer()["kl"], 0);
    request["kl"] = {{"estimator", "k1"}, {"coefficient", 0.5}};
    EXPECT_NEAR(answer()["kl"], std::log(2.0) / 3, 1e-12);
    EXPECT_NEAR(answer()["loss"], (-5 + 4 + 0.5 * std::log(2.0)) / 3, 1e-12);
    request["kl"]["estimator"] = "k3";
    EXPECT_NEAR(answer()["kl"], (0.5 + std::log(2.0) - 1) / 3, 1e-12);
    request.erase("kl");
    request["aggregate"] = "sequence";
    EXPECT_NEAR(answer()["loss"], (-2.5 + 4) / 2, 1e-12);
    request["aggregate"] = "constant";
    request["max_tokens"] = 10;
    EXPECT_NEAR(answer()["loss"], (-5.0 + 4) / 20, 1e-12);
    request["old"][1][0] = -0.5 - std::log(5.0);  // ratio 5 costs 20, at most 12
    request["new"][1][0] = -0.5;
    request["dual_clip"] = 3;
    EXPECT_NEAR(answer()["loss"], (-5.0 + 12) / 20, 1e-12);
    EXPECT_EQ(answer()["gradient"][1][0], 0);
}

TEST_F(RlLoss, WhatMayBeLeftOutMayBeNull) {
    const auto plain = answer();
    for (const char* key : {"ref", "mask", "dual_clip", "kl", "max_tokens"}) request[key] = nullptr;
    EXPECT_EQ(answer(), plain);
}

TEST_F(RlLoss, LogProbabilitiesAreRefusedWithTheirPlace) {
    EXPECT_THAT(refused("old", {{-1, 0.5}, {-1}}),
                HasSubstr("standard input: \"old\", sequence 1, token 2: 0.5 is given; a "
                          "log-probability is at most 0"));
    EXPECT_THAT(refused("new", {{-1, -2}, {1e-9}}), HasSubstr("\"new\", sequence 2, token 1"));
    EXPECT_THAT(refused("ref", {{-1, 3}, {-1}}), HasSubstr("\"ref\", sequence 1, token 2"));
    EXPECT_THAT(refused("new", {{-1, "x"}, {-1}}), HasSubstr("\"x\" is given"));
    EXPECT_THAT(refused("new", {-1, -2}), HasSubstr("sequence 1: -1 is given; give a list"));
    EXPECT_THAT(refused("new", "x"), HasSubstr("give a list for each sequence"));
    EXPECT_THAT(refusal(R"({"new":[[-Infinity]]})"), HasSubstr("standard input:1:"));
    EXPECT_THAT(refusal(R"({"new":[[NaN]]})"), HasSubstr("not valid JSON"));
    EXPECT_THAT(refusal(R"({"new":[[-1e999]]})"), HasSubstr("too large"));
    EXPECT_EQ(refused("new", {{0, -0.0}, {0}}), "no error");  // certain tokens
}

TEST_F(RlLoss, RaggedListsAreRefused) {
    EXPECT_THAT(refused("old", {{-1}, {-1}}),
                HasSubstr("\"old\", sequence 1: 1 tokens are given, \"new\" has 2"));
    EXPECT_THAT(refused("old", {{-1, -2}}), HasSubstr("1 sequences are given, \"new\" has 2"));
    EXPECT_THAT(refused("ref", {{-1, -2}, {-1, -1}}), HasSubstr("\"ref\", sequence 2"));
    EXPECT_THAT(refused("mask", {{1, 1}, nlohmann::json::array()}),
                HasSubstr("\"mask\", sequence 2: 0 tokens"));
    EXPECT_THAT(refused("advantages", {1}), HasSubstr("1 are given, \"new\" has 2 sequences"));
}

TEST_F(RlLoss, WithoutAScoredTokenThereIsNoLoss) {
    EXPECT_THAT(refused("mask", {{0, 0}, {0}}), HasSubstr("no token counts"));
    request["new"] = request["old"] = {nlohmann::json::array(), nlohmann::json::array()};
    EXPECT_THAT(refusal(request.dump()), HasSubstr("no token counts"));
    request["new"] = request["old"] = request["advantages"] = nlohmann::json::array();
    EXPECT_THAT(refusal(request.dump()), HasSubstr("no token counts"));
}

TEST_F(RlLoss, SettingsAreRefused) {
    for (const char* key : {"new", "old", "advantages", "clip", "aggregate"})
        EXPECT_THAT(refused_without(key), HasSubstr(std::string(key) + "\" is missing"));
    EXPECT_THAT(refused("kl", {{"estimator", "k3"}, {"coefficient", 0.1}}),
                HasSubstr("\"kl\" needs \"ref\""));
    EXPECT_THAT(refused("aggregate", "constant"), HasSubstr("needs \"max_tokens\""));
    EXPECT_THAT(refused("aggregate", "mean"), HasSubstr("one of token, sequence, constant"));
    for (const nlohmann::json& clip : {nlohmann::json{0.2}, {0.2, 0.2, 0.2}, {-0.1, 0.2}})
        EXPECT_THAT(refused("clip", clip), HasSubstr("\"clip\"")) << clip;
    EXPECT_THAT(refused("clip", 0.2), HasSubstr("give [LOW,HIGH]"));
    EXPECT_THAT(refused("dual_clip", 0.9), HasSubstr("give a number from 1"));
    for (const nlohmann::json& most : {nlohmann::json(0), nlohmann::json(-3), nlohmann::json(1.5),
                                       nlohmann::json(UINT64_MAX), nlohmann::json("9")})
        EXPECT_THAT(refused("max_tokens", most), HasSubstr("give a whole number")) << most;
    EXPECT_THAT(refused("mask", {{1, 2}, {1}}), HasSubstr("give 1 for a token that counts"));
    EXPECT_THAT(refused("masks", {{1, 1}, {1}}), HasSubstr("unknown key \"masks\""));
    EXPECT_THAT(refused("advantages", {1, nullptr}), HasSubstr("\"advantages\", sequence 2: null"));
    request["ref"] = request["old"];
    EXPECT_THAT(refused("kl", {{"estimator", "k2"}, {"coefficient", 0.1}}),
                HasSubstr("\"kl\", \"estimator\": \"k2\" is given; give one of k1, k3"));
    EXPECT_THAT(refused("kl", {{"estimator", "k3"}, {"coefficient", -1}}),
                HasSubstr("give a number from 0"));
    EXPECT_THAT(refused("kl", {{"estimator", "k3"}}), HasSubstr("\"coefficient\" is missing"));
    EXPECT_THAT(refused("kl", "k3"), HasSubstr("give an object"));
}

TEST_F(RlLoss, ALossTooLargeForADoubleIsRefused) {
    request["old"][1][0] = -1000;
    EXPECT_THAT(refusal(request.dump()),
                HasSubstr("standard input: sequence 2, token 1: the loss is too large"));
}

}  // namespace
}  // namespace assay::rl
