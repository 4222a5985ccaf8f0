// `assay plan lazarus`: the JSON other programs build on, the text, and what bad input is answered
// with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

#include "impls/lazarus/commands/commands.hpp"
#include "impls/lazarus/commands/layer_plan.hpp"
#include "tests/cli/command_test.hpp"

namespace assay::lazarus {
namespace {

using nlohmann::json;
using ::testing::AllOf;
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
    EXPECT_EQ(json::parse(output({"--loads",
                                  file("\xef\xbb\xbf"
                                       "2 3 3 12"),
                                  "--nodes", "5", "--slots", "4", "--json"})),
              plan)
        << "a byte order mark is no load";
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
    EXPECT_EQ(
        output({"--loads", file("2 3 3 12"), "--nodes", "5", "--slots", "4"}),
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
        "exact\n"
        "\n"
        "load: tokens routed to an expert. replica: one slot of a node that holds the expert.\n"
        "P: share of all sets of so many lost nodes after which each expert still has a "
        "replica, so that\n"
        "training goes on without a checkpoint.\n"
        "\n"
        "Next\n"
        "  assay plan trace --generate poisson --hours 2 --nodes 5 --map min "
        "--out nodes.toml\n"
        "      nodes that come and go, and the command that trains on them\n"
        "  assay run lazarus/fig9 -a model=gpt-s -a relaunch_s=60 -a nodes=5 -a slots=4 -a "
        "placement=mro --variant lazarus,ds\n"
        "      a paced training of the paper's smallest model with such nodes, 80 minutes of a "
        "spot trace\n");
}

// Two layers that both recover from one loss by themselves, but not from the same ones.
TEST_F(LazarusPlanCommand, PlansEachLineAsALayerAndTheLossForAllTogether) {
    const std::vector<std::string> arguments{
        "--loads", file("1 1 4\n4 1 1\n"), "--nodes", "4", "--slots", "2", "--json"};
    const json plan = json::parse(output(arguments));
    ASSERT_EQ(plan.at("layers").size(), 2U);
    EXPECT_EQ(plan.at("layers")[0].at("replicas"), (json{2, 2, 4}));
    EXPECT_EQ(plan.at("layers")[1].at("replicas"), (json{4, 2, 2}));
    EXPECT_EQ(plan.at("layers")[1].at("layer"), 1);
    EXPECT_EQ(plan.at("layers")[1].at("loads"), (json{4, 1, 1}));
    EXPECT_FALSE(plan.contains("replicas"));
    EXPECT_EQ(plan.at("recovery_method"), "exact");
    EXPECT_THAT(plan.at("recovery_says").get<std::string>(), HasSubstr("not the product"));
    ModelPlacement placement;
    std::vector<std::vector<double>> alone;
    for (const json& layer : plan.at("layers")) {
        placement.push_back(layer.at("nodes").get<Placement>());
        alone.push_back(layer.at("recovery").get<std::vector<double>>());
    }
    const auto all = plan.at("recovery").get<std::vector<double>>();
    EXPECT_EQ(all, recovery_probability(placement, 3).probability);
    bool product = true;
    for (std::size_t k = 0; k < all.size(); ++k) {
        EXPECT_LE(all[k], std::min(alone[0][k], alone[1][k]) + 1e-12) << k;
        product &= std::abs(all[k] - alone[0][k] * alone[1][k]) < 1e-9;
    }
    EXPECT_FALSE(product) << "the layers lie on the same nodes";
}

TEST_F(LazarusPlanCommand, OneLayerKeepsItsKeysBesideLayers) {
    const json plan = json::parse(
        output({"--loads", file("2 3 3 12"), "--nodes", "5", "--slots", "4", "--json"}));
    ASSERT_EQ(plan.at("layers").size(), 1U);
    for (const char* key : {"replicas", "nodes", "recovery", "min_replicas_used", "placement"})
        EXPECT_EQ(plan.at("layers")[0].at(key), plan.at(key)) << key;
}

TEST_F(LazarusPlanCommand, TellsOfSeveralLayersAndShowsOneInFull) {
    const std::string loads = file("1 1 4\n4 1 1\n");
    const auto with = [&](std::vector<std::string> more) {
        std::vector<std::string> arguments{"--loads", loads, "--nodes", "4", "--slots", "2"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return arguments;
    };
    const std::string text = output(with({}));
    EXPECT_THAT(text, HasSubstr("2 layers of 3 experts on 4 nodes with 2 slots each per layer"));
    EXPECT_THAT(text, HasSubstr("\n    1       6   66.7 %    2 to 4  "));
    EXPECT_THAT(text, HasSubstr("    1  4 2 2\n"));
    EXPECT_THAT(text,
                HasSubstr("lost nodes  all: mro  weakest layer  all: mro_guarded  all: spread\n"));
    EXPECT_THAT(text, HasSubstr("all layers: mro exact; mro_guarded exact; spread exact\n"));
    EXPECT_THAT(text, HasSubstr("not the product of the layers' probabilities"));
    EXPECT_THAT(output(with({"--layer", "1"})),
                AllOf(HasSubstr("Layer 1 of 2: 3 experts on 4 nodes"), HasSubstr("node  experts")));
    EXPECT_THAT(error(with({"--layer", "2"})),
                HasSubstr("--layer 2: " + loads + " has 2 layers, counted from 0"));
    EXPECT_THAT(output(with({"--placement", "mro_guarded"})),
                AllOf(HasSubstr("all: mro_guarded  weakest layer  all: mro  all: spread\n"),
                      HasSubstr("each layer by itself")));
}

// Whichever of the two was chosen, both say which to take.
TEST_F(LazarusPlanCommand, AdvisesOneOfMroAndMroGuarded) {
    const auto told = [&](const std::string& loads, const char* nodes, const char* slots,
                          const char* placement) {
        const std::vector<std::string> arguments{"--loads", file(loads), "--nodes",     nodes,
                                                 "--slots", slots,       "--placement", placement};
        std::vector<std::string> as_json = arguments;
        as_json.emplace_back("--json");
        std::string text = output(arguments);
        std::replace(text.begin(), text.end(), '\n', ' ');
        text = std::regex_replace(text, std::regex(" +"), " ");
        return std::pair(text, json::parse(output(as_json)));
    };
    // Both layers' repaired plans dominate by themselves; together they spoil the overlap of
    // layers.
    const std::string together = "1 2 3 4\n4 1 9 1\n";
    const std::string why =
        "mro recovers more often than mro_guarded, all layers together: 0.972222 against 0.944444 "
        "after the loss of 2 nodes";
    for (const char* placement : {"mro", "mro_guarded"}) {
        const auto [text, plan] = told(together, "9", "3", placement);
        const bool keep = std::string(placement) == "mro";
        EXPECT_THAT(text, HasSubstr(std::string("placement: ") + (keep ? "keep" : "take") +
                                    " --placement mro: " + why))
            << placement;
        EXPECT_EQ(plan.at("advice"), (json{{"take", "mro"}, {"why", why}})) << placement;
        EXPECT_LT(plan.at("recovery_mro_guarded")[2], plan.at("recovery_mro")[2]);
        EXPECT_FALSE(plan.contains("dominates"));
    }
    EXPECT_THAT(told(together, "9", "3", "mro").first, HasSubstr("in 2 of 2 layers"));
    EXPECT_THAT(told(together, "9", "3", "mro_guarded").first,
                HasSubstr("2 of 2 layers' plans are shown to be never worse than mro"));
    // One layer, where the repair helps.
    for (const char* placement : {"mro", "mro_guarded"}) {
        const auto [text, plan] = told("1 1 1", "3", "2", placement);
        EXPECT_EQ(plan.at("advice").at("take"), "mro_guarded") << placement;
        EXPECT_THAT(text, HasSubstr("--placement mro_guarded: mro_guarded recovers more often than "
                                    "mro: 1.000000 against 0.666667 after the loss of 1 node"));
    }
    // Nothing to choose: mro is optimal, or nothing else is tried.
    EXPECT_FALSE(told("1 1", "3", "2", "mro").second.contains("advice"));
    EXPECT_THAT(told("1 1", "3", "2", "mro_guarded").first,
                HasSubstr("keep --placement mro_guarded: mro and mro_guarded recover alike"));
    std::string even;
    for (int e = 0; e < 65; ++e) even += "1 ";
    const auto [text, plan] = told(even, "65", "2", "mro");
    EXPECT_FALSE(plan.contains("advice"));
    EXPECT_THAT(text, HasSubstr("no other plan is tried: compare with --placement spread"));
}

TEST_F(LazarusPlanCommand, RefusesALogOfManySteps) {
    std::string log;
    for (int line = 0; line < 8200; ++line) log += line % 2 ? "3 9\n" : "5 7\n";
    EXPECT_THAT(error({"--loads", file(log), "--nodes", "4", "--slots", "2"}),
                HasSubstr("give those of one step, not of many"));
}

TEST_F(LazarusPlanCommand, WarnsWhereThePlanIsWeak) {
    const std::string text = output({"--loads", file("1 1 1"), "--nodes", "3", "--slots", "2"});
    EXPECT_THAT(text, HasSubstr("note: the nodes did not suffice for the last group"));
    EXPECT_THAT(text, HasSubstr("\nplacement: take --placement mro_guarded: "));
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
    const json large = plan(even, "65", "mro_guarded");  // more nodes than are compared in full
    EXPECT_EQ(large.at("dominates"), false);
    const json overlapped = plan(even, "65", "mro");
    EXPECT_NE(large.at("nodes"), overlapped.at("nodes")) << "the last groups are rearranged";
    EXPECT_GT(large.at("recovery")[1], overlapped.at("recovery")[1]);
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
                HasSubstr("never worse than mro, but not shown"));
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
                          "never worse than mro or\nspread, however many nodes are lost\n"));
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
    // More nodes than can be counted for. Hundreds of cold experts: a few losses decide.
    std::string loads = "1000000000";
    for (int e = 0; e < 300; ++e) loads += " 1";
    const std::vector<std::string> arguments = {
        "--loads", file(loads), "--nodes",        "17000", "--slots", "1", "--placement",
        "compact", "--json",    "--min-replicas", "1",     "--seed",  "5"};
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
    EXPECT_THAT(with("0,20,30\n1,30,20\n2,40,20", "5", "2"),
                HasSubstr("loads.txt:2:1: 1 after 0: column 1 counts the lines"));
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
