// Profiles: reading, golden errors, writing, looking up, and the files that are shipped.
#include "suite/scenario/device_profile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "suite/base/datasets.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/scenario/profile_texts.hpp"

namespace assay {
namespace {

using testing::cluster_text;
using testing::device_text;
using testing::EnvironmentVariable;
using ::testing::HasSubstr;
using testing::sourced;
using testing::TemporaryFolder;

std::string complaint(const std::function<void()>& f) {
    try {
        f();
    } catch (const UserError& error) {
        return error.what();
    }
    return "accepted";
}
std::string device_complaint(const std::string& toml) {
    return complaint([&] { read_device_profile(toml, "d.toml"); });
}
std::string cluster_complaint(const std::string& toml) {
    return complaint([&] { read_cluster_profile(toml, "c.toml"); });
}

TEST(DeviceProfile, ReadsInlineTablesAndHeadedOnes) {
    const DeviceProfile device = read_device_profile(device_text(), "d.toml");
    EXPECT_EQ(device.id, "d");
    EXPECT_EQ(device.says, "a device");
    EXPECT_EQ(device.matmul_flops, (Sourced{100, "assumed", "a test"}));
    EXPECT_EQ(device.memory_bytes.value, 1000);
    EXPECT_EQ(device.launch_s.value, 0.5);
    EXPECT_EQ(read_device_profile(device_text("[launch_s]\nvalue = 0.5\nkind = \"assumed\"\n"
                                              "source = \"a test\"\n"),
                                  "d.toml"),
              device);
    const ClusterProfile cluster =
        read_cluster_profile(cluster_text("devices = ['d', 'e']\n"), "c.toml");
    EXPECT_THAT(cluster.devices, ::testing::ElementsAre("d", "e"));
    EXPECT_EQ(cluster.relaunch_s.value, 4);
}

TEST(DeviceProfile, GoldenErrors) {
    const auto launch = [](const std::string& table) {
        return device_complaint(device_text("launch_s = " + table + "\n"));
    };
    EXPECT_EQ(device_complaint("says = 'x'"), "d.toml:1:1: device profile lacks 'id'");
    EXPECT_EQ(device_complaint("id = 'A 1'\n"),
              "d.toml:1:6: device profile: 'id' may hold a to z, 0 to 9, '-' and '_' only");
    EXPECT_EQ(device_complaint(device_text("")),
              "d.toml:1:1: device profile lacks 'launch_s': write launch_s = { value = …, kind = "
              "…, source = … }");
    EXPECT_EQ(launch("3"),
              "d.toml:8:12: device profile: 'launch_s' must be a table, { key = value }");
    EXPECT_EQ(launch("{ kind = 'assumed', source = 'x' }"), "d.toml:8:12: launch_s lacks 'value'");
    EXPECT_EQ(launch("{ value = -1, kind = 'assumed', source = 'x' }"),
              "d.toml:8:22: launch_s: 'value' must be at least 0");
    EXPECT_EQ(launch("{ value = inf, kind = 'assumed', source = 'x' }"),
              "d.toml:8:22: launch_s: 'value' must be a finite number");
    EXPECT_EQ(launch("{ value = 'fast', kind = 'assumed', source = 'x' }"),
              "d.toml:8:22: launch_s: 'value' must be a finite number");
    EXPECT_EQ(launch("{ value = 1, kind = 'guessed', source = 'x' }"),
              "d.toml:8:32: launch_s: 'kind' is 'guessed'; known are published, measured, assumed, "
              "fitted");
    EXPECT_EQ(launch("{ value = 1, kind = 'fitted', source = 'x' }"),
              "d.toml:8:32: launch_s: 'kind' is 'fitted': name in fitted_from the claims and "
              "sessions it is from");
    EXPECT_EQ(launch("{ value = 1, kind = 'measured', source = 'x', fitted_from = ['a/b/c'] }"),
              "d.toml:8:72: launch_s: 'fitted_from' goes with kind = 'fitted' alone");
    EXPECT_EQ(launch("{ value = 1, kind = 'assumed', source = '' }"),
              "d.toml:8:52: launch_s: 'source' must not be empty");
    EXPECT_EQ(launch("{ value = 1, kind = 'assumed' }"), "d.toml:8:12: launch_s lacks 'source'");
    EXPECT_EQ(launch("{ value = 1, kind = 'assumed', source = 'x', unit = 's' }"),
              "d.toml:8:64: launch_s: 'unit' is not a known key; known are: fitted_from, kind, "
              "source, value");
    EXPECT_THAT(device_complaint(device_text() + "colour = 'green'\n"),
                HasSubstr("d.toml:9:10: device profile: 'colour' is not a known key"));
    EXPECT_THAT(device_complaint("id = "), HasSubstr("d.toml:1:6: not valid TOML"));
    EXPECT_THAT(device_complaint("id = 'd'\n\n[= 1\n"), HasSubstr("d.toml:3:2: not valid TOML"));
    EXPECT_EQ(cluster_complaint(cluster_text("")),
              "c.toml:1:1: cluster profile: 'devices' must name at least one device profile");
    EXPECT_EQ(cluster_complaint(cluster_text("devices = ['a', '']\n")),
              "c.toml:3:11: cluster profile: 'devices' must not hold an empty name");
    EXPECT_EQ(cluster_complaint(cluster_text("devices = 'd'\n")),
              "c.toml:3:11: cluster profile: 'devices' must be an array");
}

TEST(DeviceProfile, EveryRangeIsChecked) {
    // Replaces one number of a good file.
    const auto with = [](std::string text, const std::string& key, const std::string& value) {
        const std::size_t at = text.find(key + " = { value = ") + key.size() + 13;
        return text.replace(at, text.find(',', at) - at, value);
    };
    const auto check = [&](const auto& fields, const std::string& text, const auto& complain) {
        for (const auto& field : fields) {
            SCOPED_TRACE(field.key);
            const bool zero = field.range == ProfileRange::at_least_0;
            EXPECT_EQ(complain(with(text, field.key, "0")) == "accepted", zero);
            EXPECT_THAT(complain(with(text, field.key, "-0.5")), HasSubstr("'value' must be"));
            EXPECT_EQ(complain(with(text, field.key, "1")), "accepted");
            EXPECT_EQ(complain(with(text, field.key, "1.01")) == "accepted",
                      field.range != ProfileRange::share);
        }
    };
    check(device_fields(), device_text(), device_complaint);
    check(cluster_fields(), cluster_text(), cluster_complaint);
}

TEST(DeviceProfile, WrittenAndReadAgainIsTheSame) {
    DeviceProfile device = read_device_profile(device_text(), "d.toml");
    device.says = "quotes \" \\ ' and\nlines, \x7f, é";
    device.matmul_flops = {1.0 / 3, "measured", "[table] # no comment"};
    device.memory_bandwidth.value = 4.9e-324;
    device.memory_bytes.value = 1.7976931348623157e308;
    EXPECT_EQ(read_device_profile(to_toml(device), "again.toml"), device) << to_toml(device);
    ClusterProfile cluster =
        read_cluster_profile(cluster_text("devices = ['a', 'b/c.toml']\n"), "c.toml");
    cluster.storage_bandwidth.value = 1e16;  // beyond what prints without an exponent
    EXPECT_EQ(read_cluster_profile(to_toml(cluster), "again.toml"), cluster) << to_toml(cluster);
}

// ---- what operations reach ---------------------------------------------------------------------

const std::string experts_text =
    "[operation.experts]\n"
    "efficiency = { value = 0.5, kind = 'fitted', source = 'a test', fitted_from = ['a/b/c'] }\n" +
    sourced("launch_s", "0");

TEST(DeviceProfile, MayKnowWhatSingleOperationsReach) {
    const DeviceProfile device = read_device_profile(device_text() + experts_text, "d.toml");
    ASSERT_EQ(device.operations.size(), 1U);
    const OperationProfile& experts = device.operations.at("experts");
    EXPECT_EQ(experts.efficiency, (Sourced{0.5, "fitted", "a test", {"a/b/c"}}));
    EXPECT_EQ(experts.launch_s.value, 0);
    EXPECT_EQ(read_device_profile(to_toml(device), "again.toml"), device) << to_toml(device);
    EXPECT_EQ(to_json(device)["operations"]["experts"]["efficiency"]["fitted_from"].dump(),
              R"(["a/b/c"])");
    DeviceProfile strange = device;
    strange.operations["two words \" [x]"] = experts;
    EXPECT_EQ(read_device_profile(to_toml(strange), "again.toml"), strange) << to_toml(strange);
}

TEST(DeviceProfile, WhatIsWrongWithAnOperationIsSaid) {
    const auto with = [](const std::string& text) {
        return device_complaint(device_text() + text);
    };
    EXPECT_EQ(with("[operation.experts]\n" + sourced("efficiency", "0.5")),
              "d.toml:9:1: experts lacks 'launch_s': write launch_s = { value = …, kind = …, "
              "source = … }");
    EXPECT_THAT(
        with("[operation.experts]\n" + sourced("efficiency", "1.5") + sourced("launch_s", "0")),
        HasSubstr("efficiency: 'value' must be above 0 and at most 1"));
    EXPECT_THAT(with(experts_text + sourced("bandwidth", "1")),
                HasSubstr("experts: 'bandwidth' is not a known key"));
    EXPECT_THAT(with("[operation]\nexperts = 3\n"), HasSubstr("'experts' must be a table"));
    EXPECT_THAT(with("operation = 3\n"), HasSubstr("'operation' must be a table"));
}

// Hashes of calibrations that were stored before profiles knew operations or fits stay theirs.
TEST(DeviceProfile, JsonSaysNothingOfWhatIsNotThere) {
    const std::string text = to_json(read_device_profile(device_text(), "d.toml")).dump();
    EXPECT_EQ(text.find("operations"), std::string::npos);
    EXPECT_EQ(text.find("fitted_from"), std::string::npos);
}

TEST(DeviceProfile, EqualProfilesHaveEqualJson) {
    const DeviceProfile device = read_device_profile(device_text(), "d.toml");
    EXPECT_EQ(to_json(device).dump(), to_json(read_device_profile(to_toml(device), "x")).dump());
    EXPECT_EQ(to_json(device)["launch_s"].dump(),
              R"({"kind":"assumed","source":"a test","value":0.5})");
    DeviceProfile other = device;
    other.launch_s.source = "another test";
    EXPECT_NE(to_json(device), to_json(other)) << "a source is part of the record";
    EXPECT_EQ(to_json(device).size(), 2 + device_fields().size());
    const ClusterProfile cluster = read_cluster_profile(cluster_text(), "c.toml");
    EXPECT_EQ(to_json(cluster)["devices"].dump(), R"(["d"])");
    EXPECT_EQ(to_json(cluster).size(), 3 + cluster_fields().size());
}

TEST(DeviceProfile, LookedUpByIdByFileAndInTheDataFolder) {
    const TemporaryFolder folder;
    const EnvironmentVariable data("ASSAY_DATA", folder.path().string());
    EXPECT_EQ(device_profile("a100").id, "a100");
    EXPECT_EQ(cluster_profile("lazarus-testbed").devices.front(), "rtx3090");
    const std::string file = (folder / "mine.toml").string();
    std::ofstream(file) << device_text();
    EXPECT_EQ(device_profile(file).id, "d");
    EXPECT_THAT(complaint([&] { cluster_profile(file); }), HasSubstr("mine.toml:"));

    const std::string unknown = complaint([] { device_profile("a101"); });
    EXPECT_THAT(unknown, HasSubstr("did you mean 'a100'?"));
    EXPECT_THAT(unknown, HasSubstr("a40, "));
    EXPECT_THAT(unknown, HasSubstr("this-machine"));
    EXPECT_THAT(complaint([] { cluster_profile("a100"); }), HasSubstr("lazarus-aws"));
    EXPECT_THAT(complaint([&] { device_profile(file + "/none.toml"); }),
                HasSubstr("none.toml:1:1: cannot be read"));

    EXPECT_THAT(complaint([] { device_profile("this-machine"); }),
                HasSubstr("`assay calibrate machine`"));
    EXPECT_THAT(complaint([] { cluster_profile("this-machine"); }),
                HasSubstr("`assay calibrate machine`"));
    std::filesystem::create_directories(this_machine_device_file().parent_path());
    std::ofstream(this_machine_device_file()) << device_text();
    EXPECT_EQ(device_profile("this-machine").says, "a device");
    EXPECT_EQ(this_machine_cluster_file(), folder / "clusters/this-machine.toml");
}

TEST(DeviceProfile, ShippedOnesAreReadableAndNamedLikeTheirFiles) {
    int devices = 0, clusters = 0;
    for (const auto& entry : std::filesystem::directory_iterator(datasets_dir() / "devices")) {
        if (entry.path().extension() != ".toml") continue;
        const std::string id = entry.path().stem().string();
        SCOPED_TRACE(id);
        const DeviceProfile device = device_profile(id);
        ++devices;
        EXPECT_EQ(device.id, id);
        EXPECT_EQ(device.matmul_flops.kind, "published");
        EXPECT_EQ(device.matmul_efficiency.kind, id == "t4" ? "fitted" : "assumed");
        // Roughly right in size: a factor of 1000 in a unit would show.
        EXPECT_GT(device.matmul_flops.value, 5e13);
        EXPECT_LT(device.matmul_flops.value, 2e15);
        EXPECT_GT(device.memory_bytes.value, 1e10);
        EXPECT_LT(device.memory_bytes.value, 2e11);
        EXPECT_GT(device.memory_bandwidth.value, 2e11);
        EXPECT_LT(device.memory_bandwidth.value, 1e13);
    }
    for (const auto& entry : std::filesystem::directory_iterator(datasets_dir() / "clusters")) {
        if (entry.path().extension() != ".toml") continue;
        const std::string id = entry.path().stem().string();
        SCOPED_TRACE(id);
        const ClusterProfile cluster = cluster_profile(id);
        ++clusters;
        EXPECT_EQ(cluster.id, id);
        for (const std::string& device : cluster.devices) EXPECT_NO_THROW(device_profile(device));
    }
    EXPECT_GE(devices, 9);
    EXPECT_GE(clusters, 3);
}

TEST(DeviceProfile, KnowsHowAttentionIsComputed) {
    EXPECT_EQ(device_profile("v100").attention->kernels, AttentionKernels::materialised);
    EXPECT_EQ(device_profile("a40").attention->kernels, AttentionKernels::fused);
    const DeviceProfile silent = read_device_profile(device_text(), "d.toml");
    EXPECT_FALSE(silent.attention);
    EXPECT_FALSE(to_json(silent).contains("attention"));  // older calibrations keep their hash

    const std::string said = device_text() +
                             "[attention]\nvalue = 'materialised'\nkind = 'assumed'\n"
                             "source = 'a test'\n";
    const DeviceProfile device = read_device_profile(said, "d.toml");
    EXPECT_EQ(read_device_profile(to_toml(device), "again"), device);
    EXPECT_EQ(to_json(device).at("attention").at("value"), "materialised");
    const auto refused = [&](const std::string& from, const std::string& to) {
        std::string text = said;
        text.replace(text.find(from), from.size(), to);
        return complaint([&] { read_device_profile(text, "d.toml"); });
    };
    EXPECT_EQ(refused("'materialised'", "'slow'"),
              "d.toml:10:9: attention: 'value' is 'slow'; known are fused, materialised");
    EXPECT_THAT(refused("kind = 'assumed'\nsource", "kind = 'fitted'\nsource"),
                HasSubstr("known are published, measured, assumed"));
}

TEST(DeviceProfile, ShippedNumbersAgreeWithThePapersTables) {
    // arXiv 2504.03871 compares A100 and A40: 2.1 times the FP16 tensor rate.
    EXPECT_NEAR(
        device_profile("a100").matmul_flops.value / device_profile("a40").matmul_flops.value, 2.1,
        0.05);
    const auto reached = [](const char* id) {
        const DeviceProfile device = device_profile(id);
        return device.matmul_flops.value * device.matmul_efficiency.value;
    };
    // The same paper's measured speeds of experts: A40 1.25 times a V100, L40S 7.0 times a T4.
    EXPECT_NEAR(reached("a40") / reached("v100"), 1.25, 0.1);
    EXPECT_NEAR(reached("l40s") / reached("t4"), 7.0, 0.1);
    // arXiv 2407.04656v2, section 6.1: 100 Gbit/s for two GPUs, NFS over 10 Gbit/s.
    const ClusterProfile testbed = cluster_profile("lazarus-testbed");
    EXPECT_EQ(testbed.link_bandwidth.value, 100e9 / 8 / 2);
    EXPECT_EQ(testbed.storage_bandwidth.value, 10e9 / 8);
}

}  // namespace
}  // namespace assay
