// `assay plan dr_post_training`: the JSON other programs build on, the text, and what bad input is
// answered with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "impls/dr_post_training/commands/commands.hpp"
#include "tests/cli/command_test.hpp"

namespace assay::dr_post_training {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class DrPlanCommand : public assay::testing::CommandTest {
  protected:
    DrPlanCommand() : CommandTest(make_plan_command) {}

    std::string file(const json& content) const {
        const std::string name = (folder_ / "g.json").string();
        std::ofstream(name) << content;
        return name;
    }
    /// Rows 0 and 1 along the axes, row 2 against the first; targets (2, 1) and (1, 0).
    static json example() {
        return {{"layers",
                 {{{"name", "a"},
                   {"block", "0"},
                   {"part", "ffn"},
                   {"gradients", {{1, 0}, {0, 1}, {-2, 0}, {1, 1}}},
                   {"target", {{2, 1}, {1, 0}}}},
                  {{"name", "b"},
                   {"block", "0"},
                   {"part", "attention"},
                   {"gradients", {{1}, {2}, {3}, {-1}}},
                   {"target", {{1}, {1}}}}}}};
    }
    json plan(std::vector<std::string> arguments, const json& content = example()) const {
        arguments.insert(arguments.begin(), {"--gradients", file(content), "--json"});
        return json::parse(output(arguments));
    }
    json costs(std::vector<std::string> arguments) const {
        arguments.emplace_back("--json");
        return json::parse(output(arguments));
    }
};

std::vector<std::string> keys(const json& object) {
    std::vector<std::string> names;
    for (const auto& [key, value] : object.items()) names.push_back(key);
    return names;
}

TEST_F(DrPlanCommand, PrintsThePromisedJson) {
    const json found = plan({});
    EXPECT_THAT(keys(found), ElementsAre("compare", "groups", "k", "m", "n", "partition",
                                         "recommended", "set", "sources", "total"));
    EXPECT_EQ(found.at("n"), 4);
    EXPECT_EQ(found.at("m"), 2);
    EXPECT_EQ(found.at("k"), 2);
    EXPECT_EQ(found.at("set"), "topk");
    EXPECT_EQ(found.at("partition"), "layer");
    EXPECT_EQ(found.at("compare"), json::array());
    EXPECT_EQ(found.at("sources"), json::array());
    EXPECT_TRUE(found.at("recommended").is_null());
    ASSERT_EQ(found.at("groups").size(), 2U);
    const json& a = found.at("groups")[0];
    EXPECT_THAT(keys(a), ElementsAre("distance2", "dot", "layers", "norm2", "scores", "selected",
                                     "target_weight", "weights"));
    // v = (1.5, 0.5); rows 3 and 0 are the best: u = (1, 0.5).
    EXPECT_EQ(a.at("layers"), json{"a"});
    EXPECT_EQ(a.at("scores"), (json{1.5, 0.5, -3.0, 2.0}));
    EXPECT_EQ(a.at("selected"), (json{0, 3}));
    EXPECT_EQ(a.at("weights"), (json{0.5, 0.0, 0.0, 0.5}));
    EXPECT_EQ(a.at("target_weight"), 0);
    EXPECT_DOUBLE_EQ(a.at("dot"), 1.75);
    EXPECT_DOUBLE_EQ(a.at("norm2"), 1.25);
    EXPECT_DOUBLE_EQ(a.at("distance2"), 0.25);
    EXPECT_EQ(found.at("groups")[1].at("selected"), (json{1, 2}));
    const json& total = found.at("total");
    EXPECT_THAT(keys(total), ElementsAre("cosine", "distance2", "dot", "norm2", "target_norm2"));
    EXPECT_DOUBLE_EQ(total.at("dot"), 1.75 + 2.5);
    EXPECT_DOUBLE_EQ(total.at("norm2"), 1.25 + 6.25);
    EXPECT_DOUBLE_EQ(total.at("target_norm2"), 2.5 + 1);
    EXPECT_DOUBLE_EQ(total.at("distance2"), 0.25 + 2.25);
    EXPECT_DOUBLE_EQ(total.at("cosine"), 4.25 / std::sqrt(7.5 * 3.5));
}

TEST_F(DrPlanCommand, SetsAndPartitionsAreThoseAskedFor) {
    EXPECT_EQ(plan({"--set", "full"}).at("groups")[0].at("weights"),
              (json{0.25, 0.25, 0.25, 0.25}));
    EXPECT_TRUE(plan({"--set", "full"}).at("groups")[0].at("selected").is_null());
    EXPECT_EQ(plan({"--set", "filter"}).at("groups")[0].at("selected"), (json{0, 1, 3}));
    EXPECT_EQ(plan({"--set", "filter", "--drop", "0.99"}).at("groups")[0].at("selected"),
              (json{0, 1, 2, 3}));
    EXPECT_EQ(plan({"--set", "target"}).at("groups")[0].at("target_weight"), 1);
    EXPECT_EQ(plan({"--set", "target"}).at("total").at("distance2"), 0);
    const json global = plan({"--partition", "global", "--k", "1"});
    EXPECT_EQ(global.at("groups").size(), 1U);
    EXPECT_EQ(global.at("groups")[0].at("layers"), (json{"a", "b"}));
    EXPECT_EQ(global.at("groups")[0].at("scores"), (json{2.5, 2.5, 0.0, 1.0}));
    EXPECT_EQ(global.at("groups")[0].at("selected"), json{0});
    EXPECT_EQ(plan({"--partition", "block"}).at("groups").size(), 1U);
    EXPECT_EQ(plan({"--partition", "sublayer"}).at("groups").size(), 2U);
    EXPECT_EQ(plan({"--fraction", "0.76"}).at("k"), 3);
    EXPECT_EQ(plan({"--fraction", "0.01"}).at("k"), 1);
    EXPECT_EQ(plan({"--fraction", "1", "--set", "exact"}).at("k"), 4);
    const json near = plan({"--set", "ball", "--radius", "0"});
    EXPECT_EQ(near.at("total").at("dot"), plan({"--set", "full"}).at("total").at("dot"));
}

TEST_F(DrPlanCommand, TokensWeighRows) {
    json content = example();
    content["tokens"] = {1, 1, 1, 5};
    const json found = plan({"--k", "2"}, content);
    // n·w is 0.5, 0.5, 0.5, 2.5.
    EXPECT_EQ(found.at("groups")[0].at("scores"), (json{0.75, 0.25, -1.5, 5.0}));
    EXPECT_DOUBLE_EQ(found.at("groups")[0].at("weights")[3], 5.0 / 6);
    EXPECT_EQ(plan({"--set", "full"}, content).at("groups")[0].at("weights"),
              (json{0.125, 0.125, 0.125, 0.625}));
}

TEST_F(DrPlanCommand, ComparesAndRecommends) {
    const json found = plan({"--compare"});
    ASSERT_EQ(found.at("compare").size(), 44U);
    const json& first = found.at("compare")[0];
    EXPECT_THAT(keys(first),
                ElementsAre("distance2", "dot", "gain", "gain_se", "norm2", "partition", "set"));
    EXPECT_EQ(first.at("set"), "full");
    EXPECT_EQ(first.at("partition"), "global");
    // The mean is (0, 0.5 | 1.25): 1.75 and 1.25 along the target rows.
    const double length = std::sqrt(0.25 + 1.5625);
    EXPECT_DOUBLE_EQ(first.at("gain"), 1.5 / length);
    EXPECT_NEAR(first.at("gain_se"), 0.25 / length, 1e-15);
    double most = -1e300;
    json best;
    for (const json& one : found.at("compare"))
        if (one.at("gain") > most + 1e-9) {
            most = one.at("gain");
            best = {{"set", one.at("set")}, {"partition", one.at("partition")}};
        }
    EXPECT_EQ(found.at("recommended"), best);

    json content = example();
    for (json& layer : content["layers"]) layer["target"] = json{layer["target"][0]};
    const json single = plan({"--compare"}, content);
    EXPECT_TRUE(single.at("recommended").is_null());
    EXPECT_TRUE(single.at("compare")[0].at("gain").is_null());
    EXPECT_TRUE(single.at("compare")[0].at("gain_se").is_null());
}

TEST_F(DrPlanCommand, SourcesAreListed) {
    json content = example();
    content["sources"] = {"b", "a", "b", "a"};
    const json found = plan({}, content);
    ASSERT_EQ(found.at("sources").size(), 2U);
    const json& b = found.at("sources")[0];
    EXPECT_THAT(keys(b), ElementsAre("kept", "rows", "score", "source", "weight"));
    EXPECT_EQ(b.at("source"), "b");
    EXPECT_EQ(b.at("rows"), 2);
    EXPECT_DOUBLE_EQ(b.at("score"), 1.25);  // (2.5 + 0) / 2
    EXPECT_DOUBLE_EQ(b.at("kept"), 0.5);    // row 0 of layer a, row 2 of layer b
    EXPECT_TRUE(plan({"--set", "cone"}, content).at("sources")[0].at("kept").is_null());
    content["sources"] = {7, 8, 7, 8};
    EXPECT_EQ(plan({}, content).at("sources")[1].at("source"), 8);
}

TEST_F(DrPlanCommand, WithoutTargetGramDistancesAreNotKnown) {
    json content{{"layers", {{{"name", "a"}, {"gram", {{1, 0}, {0, 1}}}, {"scores", {{1}, {2}}}}}}};
    const json found = plan({}, content);
    EXPECT_EQ(found.at("groups")[0].at("selected"), json{1});
    for (const char* unknown : {"target_norm2", "distance2", "cosine"})
        EXPECT_TRUE(found.at("total").at(unknown).is_null()) << unknown;
    EXPECT_TRUE(found.at("groups")[0].at("distance2").is_null());
    EXPECT_EQ(plan({"--compare"}, content).at("compare").size(), 32U);
    for (const char* set : {"ball", "halfspace", "target"})
        EXPECT_THAT(error({"--gradients", file(content), "--set", set}),
                    HasSubstr("\"target_gram\""));
}

TEST_F(DrPlanCommand, PrintsThePromisedCosts) {
    const json found = costs({"--linears", "8x4x3,16x16", "--n", "4", "--m", "2", "--k", "1",
                              "--tokens", "10", "--compress", "2x3"});
    EXPECT_THAT(keys(found), ElementsAre("crossover_m", "crossover_tokens", "linears",
                                         "overhead_flops", "total"));
    const json& first = found.at("linears")[0];
    EXPECT_THAT(keys(first), ElementsAre("best", "count", "elements", "flops", "in", "out"));
    EXPECT_EQ(first.at("out"), 8);
    EXPECT_EQ(first.at("in"), 4);
    EXPECT_EQ(first.at("count"), 3);
    EXPECT_EQ(first.at("flops").at("direct"), 2 * 6 * 10 * 32 + 2 * 4 * 32);
    EXPECT_EQ(first.at("flops").at("gip"), 8 * 100 * (16 + 8 + 2));
    EXPECT_EQ(first.at("flops").at("pip"), 2 * 6 * 10 * 32 + 2 * 4 * 10 * 8);
    EXPECT_EQ(first.at("flops").at("compressed"), 2 * 6 * 10 * (16 + 12 + 6) + 2 * 4 * 6);
    EXPECT_EQ(first.at("elements").at("direct"), 5 * 32);
    EXPECT_EQ(first.at("best"), "direct");
    EXPECT_EQ(found.at("total").at("elements").at("pip"), 256 + 4 * 10 * 16);
    EXPECT_EQ(found.at("total").at("flops").at("gip").get<double>(),
              3 * 8 * 100 * 26 + 8 * 100 * 66);
    const double parameters = 3 * 32 + 256;
    EXPECT_DOUBLE_EQ(found.at("crossover_m"), parameters / (10 * (3 * 12 + 32)));
    EXPECT_DOUBLE_EQ(found.at("crossover_tokens"), parameters / (3 * std::sqrt(32) + 16));
    EXPECT_DOUBLE_EQ(
        found.at("overhead_flops").at("gip"),
        2 * 2 / 12.0 - 0.75 / 3 +
            found.at("total").at("flops").at("gip").get<double>() / (6 * 4 * 10 * parameters));
    EXPECT_TRUE(
        costs({"--linears", "8x4", "--budget-bytes", "100"}).at("linears")[0].at("best").is_null());
    // k is half of n.
    EXPECT_EQ(costs({"--linears", "8x4", "--n", "5"}),
              costs({"--linears", "8x4", "--n", "5", "--k", "2"}));
    EXPECT_EQ(costs({"--linears", "8x4", "--n", "1"}),
              costs({"--linears", "8x4", "--n", "1", "--k", "1"}));
    EXPECT_NEAR(costs({"--shape", "qwen3-8b"}).at("crossover_m"), 5.0, 0.05);
    EXPECT_GT(costs({"--linears", "999999999x999999999x999999999", "--n", "999999999"})
                  .at("total")
                  .at("flops")
                  .at("direct"),
              1e30);
}

TEST_F(DrPlanCommand, PrintsPagesForPeople) {
    json content = example();
    content["sources"] = {"b", "a", "b", "a"};
    EXPECT_EQ(
        output({"--gradients", file(content)}),
        R"(4 rows of general data, 2 rows of target data, 2 layers; set topk, partition layer, k 2; rows are
counted from 0

group  rows that count  of target  <u,v>    |u|  |u-v|
─────  ───────────────  ─────────  ─────  ─────  ─────
a                  0 3          0   1.75  1.118    0.5
b                  1 2          0    2.5    2.5    1.5
all                                 4.25  2.739  1.581

u is the update, v the mean gradient of the target. Cosine of both over all groups: 0.8295

source  rows  mean <g,v>  kept  simplex weight
──────  ────  ──────────  ────  ──────────────
b          2        1.25   0.5         0.05882
a          2        1.75   0.5          0.9412
)");
    EXPECT_THAT(output({"--gradients", file(content), "--compare"}), HasSubstr("recommended"));
    EXPECT_THAT(output({"--gradients", file(content), "--set", "simplex"}),
                HasSubstr("weights of rows"));
    EXPECT_THAT(output({"--linears", "576x576x60"}), HasSubstr("576x576 (60 times)"));
}

TEST_F(DrPlanCommand, SaysWhatIsWrongAndHowToMendIt) {
    const std::string name = file(example());
    EXPECT_THAT(error({}), HasSubstr("give --gradients FILE"));
    EXPECT_THAT(error({"--json"}), HasSubstr("give --gradients FILE"));
    EXPECT_THAT(error({"--gradients", "nowhere.json"}), HasSubstr("nowhere.json"));
    EXPECT_THAT(error({"--gradients", folder_.string()}), HasSubstr("a folder"));
    const auto refused = [&](const char* option, const char* value) {
        return error({"--gradients", name, option, value});
    };
    for (const char* value : {"-0.1", "1.1", "nan", "x", "", "inf"}) {
        EXPECT_THAT(refused("--drop", value), HasSubstr("--drop")) << value;
        if (*value != '\0') {
            EXPECT_THAT(refused("--fraction", value), HasSubstr("--fraction")) << value;
        }
    }
    EXPECT_THAT(refused("--fraction", "0"), HasSubstr("above 0"));
    for (const char* value : {"0", "-1", "nan", "x", "inf"}) {
        EXPECT_THAT(refused("--eta", value), HasSubstr("--eta")) << value;
        EXPECT_THAT(refused("--ridge", value), HasSubstr("--ridge")) << value;
    }
    for (const char* value : {"-1", "nan", "x", "inf"})
        EXPECT_THAT(refused("--radius", value), HasSubstr("--radius")) << value;
    for (const char* value : {"0", "-1", "5", "1.5", "x", "1000000000"})
        EXPECT_THAT(refused("--k", value), HasSubstr("--k")) << value;
    EXPECT_THROW(output({"--gradients", name, "--set", "hull"}), CLI::ParseError);
    EXPECT_THROW(output({"--gradients", name, "--partition", "module"}), CLI::ParseError);
    EXPECT_THROW(output({"--gradients", name, "--k", "2", "--fraction", "0.5"}), CLI::ParseError);
    EXPECT_THROW(output({"--gradients", name, "--linears", "2x2"}), CLI::ParseError);
    EXPECT_THROW(output({"--gradients", name, "--n", "3"}), CLI::ParseError);
    EXPECT_THROW(output({"--linears", "2x2", "--set", "full"}), CLI::ParseError);
    EXPECT_THROW(output({"--linears", "2x2", "--shape", "gpt2"}), CLI::ParseError);
    for (const char* option : {"--n", "--m", "--tokens"})
        for (const char* value : {"0", "-1", "x", "1.5", "1000000000"})
            EXPECT_THAT(error({"--linears", "2x2", option, value}), HasSubstr(option)) << value;
    EXPECT_THAT(error({"--linears", "2x2", "--k", "9"}), HasSubstr("there are 8 rows"));
    EXPECT_THAT(error({"--linears", "2x2", "--compress", "64"}), HasSubstr("--compress"));
    EXPECT_THAT(error({"--linears", "2x2", "--budget-bytes", "-1"}), HasSubstr("--budget-bytes"));
    EXPECT_THAT(error({"--linears", "2"}), HasSubstr("--linears"));
    EXPECT_THAT(error({"--shape", "gpt"}), HasSubstr("did you mean 'gpt2'?"));
    EXPECT_THAT(error({"--model", "nowhere.gguf"}), HasSubstr("no such file"));
    json many = example();
    many["layers"].erase(1);
    many["layers"][0]["gradients"] = json::array();
    for (int row = 0; row < 30; ++row) many["layers"][0]["gradients"].push_back({row, 1});
    EXPECT_THAT(error({"--gradients", file(many), "--set", "exact"}),
                HasSubstr("more than a million subsets"));
}

}  // namespace
}  // namespace assay::dr_post_training
