// `assay plan lazarus`: the JSON other programs build on, the text, and what bad input is answered
// with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "impls/lazarus/layer_plan.hpp"
#include "impls/lazarus/plan_command.hpp"
#include "tests/cli/command_test.hpp"

namespace assay::lazarus {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

LayerPlanRequest request_of(Loads loads, int nodes, int slots) {
    LayerPlanRequest request;
    request.loads = std::move(loads);
    request.nodes = nodes;
    request.slots = slots;
    return request;
}

class LazarusPlanCommand : public assay::testing::CommandTest {
  protected:
    LazarusPlanCommand() : CommandTest(make_plan_command) {}

    std::string file(const std::string& text) {
        const std::string name = (folder_ / "loads.txt").string();
        std::ofstream(name) << text;
        return name;
    }
};

TEST_F(LazarusPlanCommand, PrintsThePromisedJson) {
    const json plan = json::parse(
        output({"--loads", file("2 3 3 12"), "--nodes", "5", "--slots", "4", "--json"}));
    EXPECT_EQ(plan.at("replicas"), (json{2, 3, 3, 12}));
    EXPECT_EQ(plan.at("nodes"), json::parse("[[0,1,2,3],[0,1,2,3],[1,2,3,3],[3,3,3,3],[3,3,3,3]]"));
    const auto recovery = plan.at("recovery").get<std::vector<double>>();
    EXPECT_THAT(recovery, ElementsAre(1, 1, 0.9, 0.7, 0.4, 0));
    EXPECT_EQ(plan.at("recovery_method"), "exact");
    EXPECT_EQ(plan.at("recovery_error"), 0);
    EXPECT_EQ(plan.at("min_replicas_used"), 2);
}

TEST_F(LazarusPlanCommand, TakesTheOtherPlacementsAndMinima) {
    const std::string loads = file("1,1,1");
    const json spread = json::parse(output(
        {"--loads", loads, "--nodes", "3", "--slots", "2", "--placement", "spread", "--json"}));
    EXPECT_EQ(spread.at("nodes"), json::parse("[[0,1],[0,2],[1,2]]"));
    EXPECT_EQ(spread.at("placement"), "spread");
    const json relaxed = json::parse(output(
        {"--loads", loads, "--nodes", "2", "--slots", "2", "--min-replicas", "3", "--json"}));
    EXPECT_EQ(relaxed.at("min_replicas_used"), 1);
}

TEST_F(LazarusPlanCommand, PrintsATableForPeople) {
    EXPECT_EQ(output({"--loads", file("2 3 3 12"), "--nodes", "5", "--slots", "4"}),
              "4 experts on 5 nodes with 4 slots each, placement mro\n"
              "\n"
              "expert                 load  replicas  nodes\n"
              "     0                    2         2      2\n"
              "     1                    3         3      3\n"
              "     2                    3         3      3\n"
              "     3                   12        12      5\n"
              "\n"
              "       node  experts\n"
              "        0-1  0 1 2 3\n"
              "          2  1 2 3 3\n"
              "        3-4  3 3 3 3\n"
              "\n"
              " lost nodes  P(every expert survives)\n"
              "          0  1.000000\n"
              "          1  1.000000\n"
              "          2  0.900000\n"
              "          3  0.700000\n"
              "          4  0.400000\n"
              "          5  0.000000\n"
              "exact\n");
}

TEST_F(LazarusPlanCommand, WarnsWhereThePlanIsWeak) {
    const std::string text = output({"--loads", file("1 1 1"), "--nodes", "3", "--slots", "2"});
    EXPECT_THAT(text, HasSubstr("note: the nodes did not suffice for the last group"));
    EXPECT_THAT(output({"--loads", file("1 1 1"), "--nodes", "2", "--slots", "2"}),
                HasSubstr("note: slots suffice for 1 replicas of every expert, not for 2"));
}

TEST_F(LazarusPlanCommand, SaysWhetherAGuardedPlanDominates) {
    auto plan = [&](const std::string& loads, const char* nodes, const char* placement) {
        return json::parse(output({"--loads", file(loads), "--nodes", nodes, "--slots", "2",
                                   "--placement", placement, "--json"}));
    };
    const json repaired = plan("1 1 1", "3", "mro_guarded");
    EXPECT_EQ(repaired.at("dominates"), true);
    EXPECT_EQ(repaired.at("placement"), "mro_guarded");
    EXPECT_EQ(repaired.at("recovery"), (json{1.0, 1.0, 0.0, 0.0}));
    EXPECT_FALSE(plan("1 1 1", "3", "mro").contains("dominates"));
    std::string even;
    for (int e = 0; e < 65; ++e) even += "1 ";
    const json large = plan(even, "65", "mro_guarded");  // more nodes than are compared
    EXPECT_EQ(large.at("dominates"), false);
    EXPECT_EQ(large.at("nodes"), plan(even, "65", "mro").at("nodes"));
}

// Every plan that is tried here falls short of spread for some number of lost nodes.
TEST_F(LazarusPlanCommand, SaysWhereNoDominatingPlanWasFound) {
    const auto recovery = [&](const char* placement) {
        return json::parse(output({"--loads", file("1 1 1 1 1 1 1 1 1 1 1 1 1"), "--nodes", "15",
                                   "--slots", "8", "--placement", placement, "--json"}));
    };
    const json guarded = recovery("mro_guarded");
    EXPECT_EQ(guarded.at("dominates"), false);
    EXPECT_EQ(guarded.at("recovery_method"), "exact");
    const auto curve = [](const json& plan) {
        return plan.at("recovery").get<std::vector<double>>();
    };
    const auto ours = curve(guarded), mro = curve(recovery("mro")),
               spread = curve(recovery("spread"));
    bool below_spread = false, above_mro = false;
    for (std::size_t lost = 0; lost < ours.size(); ++lost) {
        EXPECT_GE(ours[lost], mro[lost] - 1e-12) << lost;
        above_mro |= ours[lost] > mro[lost] + 1e-6;
        below_spread |= ours[lost] < spread[lost] - 1e-6;
    }
    EXPECT_TRUE(above_mro);
    EXPECT_TRUE(below_spread);
    EXPECT_THAT(output({"--loads", file("1 1 1 1 1 1 1 1 1 1 1 1 1"), "--nodes", "15", "--slots",
                        "8", "--placement", "mro_guarded"}),
                HasSubstr("not shown to be never worse than spread"));
}

TEST_F(LazarusPlanCommand, ComparesAGuardedPlanWithTheOthers) {
    auto text = [&](const std::string& loads, const char* nodes) {
        return output({"--loads", file(loads), "--nodes", nodes, "--slots", "2", "--placement",
                       "mro_guarded"});
    };
    EXPECT_THAT(text("1 1 1", "3"),
                HasSubstr("             P(every expert survives)\n"
                          " lost nodes  mro_guarded       mro    spread\n"
                          "          0     1.000000  1.000000  1.000000\n"
                          "          1     1.000000  0.666667  1.000000\n"
                          "          2     0.000000  0.000000  0.000000\n"
                          "          3     0.000000  0.000000  0.000000\n"
                          "mro_guarded exact; mro exact; spread exact\n"
                          "mro's last group of experts is cut short; this plan repairs it and is "
                          "never worse than mro or spread, however many nodes are lost\n"));
    EXPECT_THAT(text("1 1", "3"), HasSubstr("mro is optimal and kept"));
    std::string even;
    for (int e = 0; e < 65; ++e) even += "1 ";
    EXPECT_THAT(text(even, "65"), HasSubstr("which may be worse than spread"));
}

TEST_F(LazarusPlanCommand, EndsThinnedCurvesAtTheLastNode) {
    const std::string text = output({"--loads", file("1 2 3 4"), "--nodes", "300", "--slots", "2"});
    EXPECT_THAT(text, HasSubstr("\n        300  0.000000\n"));
    EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 60);
}

TEST_F(LazarusPlanCommand, RepeatsAnEstimateForASeed) {
    std::string loads;
    for (int e = 0; e < 64; ++e) loads += std::to_string(100 + e) + ' ';
    const std::vector<std::string> arguments = {
        "--loads",     file(loads), "--nodes", "200",    "--slots", "6",
        "--placement", "spread",    "--json",  "--seed", "5"};
    const json plan = json::parse(output(arguments));
    EXPECT_EQ(plan.at("recovery_method"), "monte_carlo");
    EXPECT_GT(plan.at("recovery_error"), 0);
    EXPECT_EQ(plan, json::parse(output(arguments)));
}

TEST_F(LazarusPlanCommand, SaysWhatIsWrongAndWhere) {
    const auto with = [&](const std::string& text, const char* nodes, const char* slots) {
        return error({"--loads", file(text), "--nodes", nodes, "--slots", slots});
    };
    EXPECT_THAT(with("1 2\n3 -4", "5", "2"), HasSubstr("loads.txt:2:3: \"-4\" is negative"));
    EXPECT_THAT(with("1 2 3 4 5", "2", "2"),
                HasSubstr("infeasible: 2 nodes with 2 slots have 4 slots for 5 experts"));
    EXPECT_THAT(with("1", "0", "2"), HasSubstr("--nodes 0: give 1 to 65536"));
    EXPECT_THAT(with("1", "2", "100000"), HasSubstr("--slots 100000"));
    EXPECT_THAT(error({"--loads", (folder_ / "absent").string(), "--nodes", "2", "--slots", "2"}),
                HasSubstr("absent: No such file or directory"));
    EXPECT_THAT(error({"--loads", folder_.string(), "--nodes", "2", "--slots", "2"}),
                HasSubstr("a folder"));
    EXPECT_THAT(
        error({"--loads", file("1"), "--nodes", "2", "--slots", "2", "--min-replicas", "0"}),
        HasSubstr("minimum of 0 replicas"));
    EXPECT_THROW(output({"--loads", file("1"), "--nodes", "two", "--slots", "2"}), CLI::ParseError);
    EXPECT_THROW(
        output({"--loads", file("1"), "--nodes", "2", "--slots", "2", "--placement", "best"}),
        CLI::ParseError);
}

TEST(LazarusLayerPlan, RefusesMoreExpertsThanItCanHandle) {
    EXPECT_THROW(plan_layer(request_of(Loads(16385, 1), 65536, 6)), UserError);
}

}  // namespace
}  // namespace assay::lazarus
