// The cost model: values worked out by hand, and what must hold whatever the numbers.
#include "suite/scenario/cost_model.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>

#include "tests/base/temporary_folder.hpp"
#include "tests/scenario/profile_texts.hpp"

namespace assay {
namespace {

/// 50 FLOP/s and 10 bytes/s of memory are reached, a launch takes 0.5 s; links reach 10 bytes/s
/// with 3 s of latency; storage takes 8 bytes/s. The second device differs in its launch only.
class CostModelTest : public ::testing::Test {
  protected:
    testing::TemporaryFolder folder;
    CostModel model = make();

    std::string device(const std::string& name, const std::string& launch) {
        const std::string file = (folder.path() / name).string();
        std::ofstream(file) << testing::device_text(testing::sourced("launch_s", launch));
        return file;
    }
    CostModel make(const std::string& latency = "3") {
        const std::string devices =
            "devices = ['" + device("d.toml", "0.5") + "', '" + device("e.toml", "0.25") + "']\n";
        return CostModel(read_cluster_profile(
            testing::cluster_text(devices, testing::sourced("link_latency_s", latency)), "c.toml"));
    }
};

TEST_F(CostModelTest, ComputingIsARoofline) {
    EXPECT_DOUBLE_EQ(model.compute(0, {.flops = 200, .bytes = 10}), 4 + 0.5);
    EXPECT_DOUBLE_EQ(model.compute(0, {.flops = 200, .bytes = 80}), 8 + 0.5);
    EXPECT_DOUBLE_EQ(model.compute(0, {.flops = 200, .bytes = 10, .kernels = 6}), 4 + 3);
    EXPECT_DOUBLE_EQ(model.compute(1, {.flops = 200, .bytes = 10, .kernels = 6}), 4 + 1.5);
    EXPECT_DOUBLE_EQ(model.compute(0, {.flops = 200}, 2.5), 2.5 * 4.5) << "all of it is slower";
    EXPECT_DOUBLE_EQ(model.compute(0, {.kernels = 0}), 0);
}

TEST_F(CostModelTest, AnOperationThatTheProfileKnowsHasItsOwnShareOfTheRoofline) {
    const Operation mine{"mine", {.flops = 200, .bytes = 10, .kernels = 6}};
    EXPECT_DOUBLE_EQ(model.compute(0, mine), model.compute(0, mine.work)) << "not known";
    DeviceProfile first = model.device(0), second = model.device(1);
    first.operations["mine"] = {{0.8, "fitted", "a test", {"s"}}, {0.1, "assumed", "a test"}};
    const CostModel knowing(model.cluster(), std::vector{first, second});
    EXPECT_DOUBLE_EQ(knowing.compute(0, mine), 200.0 / 100 / 0.8 + 6 * 0.1);
    EXPECT_DOUBLE_EQ(knowing.compute(0, mine, 3), 3 * knowing.compute(0, mine));
    EXPECT_THROW(knowing.compute(0, mine, 0.5), std::invalid_argument);
    EXPECT_DOUBLE_EQ(knowing.compute(1, mine), model.compute(1, mine)) << "another device";
    const Operation moving{"mine", {.flops = 200, .bytes = 160, .kernels = 0}};
    EXPECT_DOUBLE_EQ(knowing.compute(0, moving), 160.0 / 40 / 0.8) << "the other roof";
    EXPECT_DOUBLE_EQ(knowing.compute(0, Operation{"yours", mine.work}),
                     model.compute(0, mine.work));
    EXPECT_EQ(knowing.to_json()["devices"].dump().find("fitted_from") != std::string::npos, true);
}

TEST_F(CostModelTest, WorkersTakeTheDevicesInTurn) {
    EXPECT_EQ(&model.device(0), &model.device(2));
    EXPECT_EQ(&model.device(1), &model.device(5));
    EXPECT_EQ(model.device(3).launch_s.value, 0.25);
}

TEST_F(CostModelTest, TheBusiestPortDecidesAnAllToAll) {
    // Rank 0 sends 30 + 20, rank 2 receives 20 + 40; the diagonal is free.
    const std::vector<double> bytes = {1e9, 30,  20,  //
                                       5,   1e9, 40,  //
                                       0,   10,  1e9};
    EXPECT_DOUBLE_EQ(model.all_to_all(bytes, 3), 60.0 / 10 + 2 * 3);
    EXPECT_DOUBLE_EQ(model.all_to_all(std::vector<double>{77}, 1), 0);
}

TEST_F(CostModelTest, RingsAndStorage) {
    EXPECT_DOUBLE_EQ(model.all_reduce(100, 1), 0);
    EXPECT_DOUBLE_EQ(model.all_reduce(100, 2), 100.0 / 10 + 2 * 3);
    EXPECT_DOUBLE_EQ(model.all_reduce(100, 4), 150.0 / 10 + 6 * 3);
    EXPECT_DOUBLE_EQ(model.all_gather(100, 1), 0);
    EXPECT_DOUBLE_EQ(model.all_gather(100, 4), 300.0 / 10 + 3 * 3);
    EXPECT_DOUBLE_EQ(model.storage(100), 12.5);
}

TEST_F(CostModelTest, GroupsShareThePortsOfTheirRanks) {
    // Rank 1 is in both: 100 bytes of the pair and 60 * 4/3 of the three; the larger ring has 4
    // messages one after the other.
    const std::vector<std::vector<int>> groups = {{0, 1}, {1, 2, 3}};
    EXPECT_DOUBLE_EQ(model.grouped_all_reduce(std::vector<double>{100, 60}, groups, 5),
                     (100.0 + 80) / 10 + 4 * 3);
    EXPECT_DOUBLE_EQ(model.grouped_all_reduce({}, {}, 5), 0);
    EXPECT_DOUBLE_EQ(
        model.grouped_all_reduce(std::vector<double>{50}, std::vector<std::vector<int>>{{2}}, 5), 0)
        << "a group of one has nobody to talk to";
}

TEST_F(CostModelTest, OneGroupOfEveryoneIsAnAllReduce) {
    for (int ranks = 1; ranks <= 9; ++ranks) {
        std::vector<int> all(static_cast<std::size_t>(ranks));
        std::iota(all.begin(), all.end(), 0);
        const std::vector<std::vector<int>> groups = {all};
        EXPECT_DOUBLE_EQ(model.grouped_all_reduce(std::vector<double>{123}, groups, ranks),
                         model.all_reduce(123, ranks));
    }
}

TEST_F(CostModelTest, MoreBytesMoreRanksAndMoreWorkNeverTakeLess) {
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> amount(0, 1000);
    for (int round = 0; round < 200; ++round) {
        const double less = amount(random), more = less + amount(random);
        const int ranks = 1 + static_cast<int>(random() % 8);
        EXPECT_LE(model.all_reduce(less, ranks), model.all_reduce(more, ranks));
        EXPECT_LE(model.all_reduce(less, ranks), model.all_reduce(less, ranks + 1));
        EXPECT_LE(model.all_gather(less, ranks), model.all_gather(more, ranks));
        EXPECT_LE(model.all_gather(less, ranks), model.all_gather(less, ranks + 1));
        EXPECT_LE(model.storage(less), model.storage(more));
        EXPECT_LE(model.compute(0, {less, 0}), model.compute(0, {more, less}));
        EXPECT_DOUBLE_EQ(model.compute(0, {less, more}, 3), 3 * model.compute(0, {less, more}));

        const auto n = static_cast<std::size_t>(ranks);
        std::vector<double> bytes(n * n);
        for (double& entry : bytes) entry = amount(random);
        const double before = model.all_to_all(bytes, ranks);
        std::vector<double> transposed(n * n);
        for (std::size_t i = 0; i < n * n; ++i) transposed[i % n * n + i / n] = bytes[i];
        EXPECT_NEAR(model.all_to_all(transposed, ranks), before, 1e-9) << "ports are full duplex";
        bytes[random() % bytes.size()] += more;
        EXPECT_GE(model.all_to_all(bytes, ranks), before);
        for (std::size_t i = 0; i < n; ++i) bytes[i * n + i] = 0;
        const double off_diagonal = model.all_to_all(bytes, ranks);
        for (std::size_t i = 0; i < n; ++i) bytes[i * n + i] = 1e12;
        EXPECT_EQ(model.all_to_all(bytes, ranks), off_diagonal);
    }
}

TEST_F(CostModelTest, WithoutLatencyTimeIsProportionalToBytes) {
    const CostModel free = make("0");
    EXPECT_DOUBLE_EQ(free.all_reduce(600, 6), 3 * free.all_reduce(200, 6));
    const std::vector<std::vector<int>> groups = {{0, 1}, {1, 2}};
    EXPECT_DOUBLE_EQ(free.grouped_all_reduce(std::vector<double>{30, 60}, groups, 3),
                     3 * free.grouped_all_reduce(std::vector<double>{10, 20}, groups, 3));
}

TEST_F(CostModelTest, WhatDoesNotGoTogetherIsRefused) {
    EXPECT_THROW(model.compute(0, Work{}, 0.5), std::invalid_argument);
    EXPECT_THROW(model.compute(-1, Work{}), std::invalid_argument);
    EXPECT_THROW(model.compute(-1, Operation{"any", {}}), std::invalid_argument);
    EXPECT_THROW(CostModel(model.cluster(), std::vector{model.device(0)}), std::invalid_argument)
        << "one profile for two devices";
    EXPECT_THROW(model.all_to_all(std::vector<double>(5), 2), std::invalid_argument);
    EXPECT_THROW(model.all_reduce(1, 0), std::invalid_argument);
    const std::vector<std::vector<int>> outside = {{0, 3}};
    EXPECT_THROW(model.grouped_all_reduce(std::vector<double>{1}, outside, 3),
                 std::invalid_argument);
    EXPECT_THROW(model.grouped_all_reduce({}, outside, 9), std::invalid_argument);
    ClusterProfile unknown = model.cluster();
    unknown.devices = {"no-such-device"};
    EXPECT_THROW(CostModel{unknown}, UserError);
}

TEST(CostModelJson, HoldsTheClusterAndEachDeviceOnce) {
    const nlohmann::json json = CostModel(cluster_profile("mixed-generations")).to_json();
    EXPECT_EQ(json["cluster"]["id"], "mixed-generations");
    EXPECT_EQ(json["devices"].size(), 4U);
    EXPECT_EQ(json["devices"]["t4"]["matmul_flops"]["value"], 65e12);
    EXPECT_EQ(json.dump(), CostModel(cluster_profile("mixed-generations")).to_json().dump());
}

}  // namespace
}  // namespace assay
