// `assay calibrate lazarus`: what the cost model prices and by which number, and what the paper's
// rates imply.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "impls/lazarus/commands/commands.hpp"
#include "impls/lazarus/cost/step_operations.hpp"
#include "impls/lazarus/register.hpp"
#include "impls/lazarus/spot/anchors.hpp"
#include "suite/runner/plan.hpp"
#include "suite/runner/runner.hpp"
#include "tests/cli/command_test.hpp"

namespace assay::lazarus {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

class LazarusCostsCommand : public assay::testing::CommandTest {
  protected:
    LazarusCostsCommand() : CommandTest(make_costs_command) {}

    json operations(std::vector<std::string> arguments = {}) {
        arguments.emplace_back("--json");
        return json::parse(output(std::move(arguments))).at("operations");
    }
};

TEST_F(LazarusCostsCommand, ListsEveryOperationWithWhatPricesIt) {
    const json found = operations({"--model", "gpt-s"});
    ASSERT_EQ(found.size(), step_operations().size());
    const ModelledModel model = modelled_model("gpt-s");
    for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_EQ(found[i]["operation"], step_operations()[i].name);
    const Operation attention = attention_operation(model);
    EXPECT_EQ(found[0]["flops"], attention.work.flops);
    EXPECT_EQ(found[0]["bytes"], attention.work.bytes);
    const CostModel costs(cluster_profile("lazarus-testbed"));
    EXPECT_EQ(found[0]["seconds"], costs.compute(0, attention));
    EXPECT_EQ(found[0]["priced_by"], "matmul_efficiency 0.45 (assumed)");
    EXPECT_EQ(found[3]["operation"], "optimizer");
    EXPECT_EQ(found[3]["priced_by"], "memory_efficiency 0.85 (assumed)");
    EXPECT_EQ(found[3]["backward"], 0);
    EXPECT_THAT(output({}), AllOf(HasSubstr("gpt-m"), HasSubstr("optimizer: Adam")));
}

TEST_F(LazarusCostsCommand, SaysWhichOperationsTheProfileKnows) {
    DeviceProfile device = device_profile("rtx3090");
    device.operations["experts"] = {{0.31, "fitted", "a test", {"a/b/c"}}, device.launch_s};
    ClusterProfile cluster = cluster_profile("lazarus-testbed");
    cluster.devices = {(folder_ / "device.toml").string()};
    std::ofstream(folder_ / "device.toml") << to_toml(device);
    std::ofstream(folder_ / "cluster.toml") << to_toml(cluster);
    const json found = operations({"--cluster", (folder_ / "cluster.toml").string()});
    EXPECT_EQ(found[1]["operation"], "experts");
    EXPECT_EQ(found[1]["priced_by"], "its own efficiency 0.31 (fitted)");
    EXPECT_EQ(found[0]["priced_by"], "matmul_efficiency 0.45 (assumed)");
}

TEST_F(LazarusCostsCommand, AnchorsImplyNoCommonOverlap) {
    const json found = json::parse(output({"--anchors", "--trace", "synthetic", "--json"}));
    const json& anchors = found.at("anchors");
    ASSERT_EQ(anchors.size(), 2U);
    EXPECT_EQ(anchors[0]["claim"], "lazarus/fig7/gpt-m/lazarus-rate");
    EXPECT_EQ(anchors[0]["rate"], 45);
    EXPECT_LT(anchors[0]["overlap"], 0);
    EXPECT_GT(anchors[1]["overlap"], 0);
    EXPECT_LT(anchors[1]["overlap"], 1);
    ASSERT_EQ(found.at("curve").size(), 5U);
    for (const json& row : found.at("curve")) {
        EXPECT_TRUE(row["both"].is_null());
        EXPECT_GT(row["shares"]["lazarus/fig7/gpt-m/ds-rate"]["matmul"], 0.2);
        EXPECT_LT(row["shares"]["lazarus/fig7/gpt-m/lazarus-rate"]["link"], 0.6);
    }
    EXPECT_THAT(output({"--anchors", "--trace", "synthetic"}),
                AllOf(HasSubstr("none: faster without any"), HasSubstr("0.57"),
                      HasSubstr("At none of these overlaps does a pair of shares")));
}

// From the anchor to the profile, from the profile to the calibration that samples name.
TEST_F(LazarusCostsCommand, AProfileFittedToAnAnchorNamesItWhereverItIsUsed) {
    const std::string id = "lazarus/fig7/gpt-m/ds-rate", file = (folder_ / "met.toml").string();
    EXPECT_THAT(output({"--meet", id, "--overlap", "0.5", "--trace", "synthetic", "-o", file}),
                AllOf(HasSubstr("matmul_efficiency 0.483"), HasSubstr(file)));
    const DeviceProfile met = device_profile(file);
    EXPECT_EQ(met.matmul_efficiency.kind, "fitted");
    EXPECT_EQ(met.matmul_efficiency.fitted_from, std::vector<std::string>{id});
    EXPECT_THAT(met.matmul_efficiency.source, HasSubstr("overlap 0.5"));
    EXPECT_EQ(met.memory_efficiency, device_profile("rtx3090").memory_efficiency);
    ClusterProfile cluster = cluster_profile("lazarus-testbed");
    cluster.devices = {file};
    EXPECT_NEAR(AnchoredTraining({id, "ds", 34}, cluster, "synthetic")
                    .cost({met.matmul_efficiency.value, cluster.link_efficiency.value})
                    .rate(0.5),
                34, 1e-6);

    const std::string cluster_file = (folder_ / "cluster.toml").string();
    std::ofstream(cluster_file) << to_toml(cluster);
    Registry registry;
    registry.add(make_system(Claims::leave));
    runner::Request request;
    request.patterns = {"lazarus/fig9"};
    request.provenance = Provenance::simulated;
    request.axes = {{"cluster", {cluster_file}}, {"model", {"gpt-m"}}};
    const runner::Plan plan = runner::make_plan(registry, request);
    for (const auto& [hash, calibration] : plan.calibrations)
        EXPECT_EQ(calibration.fitted_from, nlohmann::json::array({id}));
    EXPECT_FALSE(plan.calibrations.empty());

    EXPECT_THAT(error({"--meet", "lazarus/fig9/x", "--trace", "synthetic", "-o", file}),
                HasSubstr(id));
    EXPECT_THAT(error({"--meet", id, "-o", file, "--overlap", "1.5"}), HasSubstr("overlap"));
    EXPECT_THAT(error({"--meet", id, "-o", file, "--cluster", "mixed-generations"}),
                HasSubstr("mixed-generations has several"));
    EXPECT_THAT(error({"--meet", id}), HasSubstr("needs -o FILE"));
    EXPECT_THAT(error({"-o", file}), HasSubstr("needs --meet"));
}

TEST_F(LazarusCostsCommand, WhatIsNotThereIsSaid) {
    EXPECT_THAT(error({"--cluster", "no-such"}), HasSubstr("no cluster profile 'no-such'"));
    EXPECT_THAT(error({"--anchors", "--trace", "no-such.csv"}), HasSubstr("no file"));
}

}  // namespace
}  // namespace assay::lazarus
