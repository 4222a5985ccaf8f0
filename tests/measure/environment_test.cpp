#include "suite/measure/environment.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "suite/measure/processor.hpp"

namespace assay::measure {
namespace {

/// A folder that stands in for "/", with files put into it by name.
class Root : public testing::Test {
  protected:
    void SetUp() override {
        const auto* test = testing::UnitTest::GetInstance()->current_test_info();
        root = std::filesystem::temp_directory_path() /
               ("assay-environment-" + std::to_string(getpid()) + "-" + test->name());
        std::filesystem::create_directories(root);
    }
    void TearDown() override { std::filesystem::remove_all(root); }
    void put(const std::string& name, const std::string& text) {
        std::filesystem::create_directories((root / name).parent_path());
        std::ofstream(root / name) << text;
    }
    std::filesystem::path root;
};

TEST_F(Root, ReadsAnX86Machine) {
    put("proc/cpuinfo",
        "processor\t: 0\nmodel name\t: AMD EPYC\ncpu family\t: 25\nmodel\t\t: 17\nstepping\t: 1\n\n"
        "processor\t: 1\nmodel name\t: something else\n\n");
    put("proc/meminfo", "MemFree: 5 kB\nMemTotal:       4028440 kB\n");
    put("proc/loadavg", "1.25 0.50 0.25 1/200 999\n");
    put("etc/os-release", "NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n");
    put("sys/devices/system/cpu/cpu0/cache/index0/size", "32K\n");
    put("sys/devices/system/cpu/cpu0/cache/index0/level", "1\n");
    put("sys/devices/system/cpu/cpu0/cache/index0/type", "Data\n");
    put("sys/devices/system/cpu/cpu0/cache/index1/size", "32M\n");
    put("sys/devices/system/cpu/cpu0/cache/index1/level", "3\n");
    put("sys/devices/system/cpu/cpu0/cache/index1/type", "Unified\n");
    put("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
    const Environment here = read_environment(root);
    EXPECT_EQ(here.cpu_model, "AMD EPYC (family 25 model 17 stepping 1)");
    EXPECT_EQ(here.cores, 2);
    EXPECT_EQ(here.memory_bytes, 4028440ull * 1024);
    EXPECT_DOUBLE_EQ(here.load_1m, 1.25);
    EXPECT_EQ(here.os, "Debian GNU/Linux 12 (bookworm)");
    EXPECT_EQ(here.governor, "performance");
    ASSERT_EQ(here.caches.size(), 2u);
    EXPECT_EQ(here.caches[0].bytes, 32u * 1024);
    EXPECT_EQ(here.caches[1].bytes, 32u * 1024 * 1024);
    EXPECT_EQ(here.caches[1].level, 3);
}

TEST_F(Root, AnArmProcessorIsNamedByItsPart) {
    put("proc/cpuinfo",
        "processor : 0\nCPU implementer : 0x41\nCPU variant : 0x3\nCPU part : 0xd0c\n\n");
    EXPECT_EQ(read_cpu_model(root), "Arm implementer 0x41 part 0xd0c variant 0x3");
}

TEST_F(Root, TheControlGroupsQuotaCountsInBothVersions) {
    EXPECT_EQ(read_cpu_quota(root), std::nullopt);
    put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    put("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    EXPECT_EQ(read_cpu_quota(root), std::nullopt);
    put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "150000\n");
    EXPECT_EQ(read_cpu_quota(root), 1.5);
    put("sys/fs/cgroup/cpu.max", "max 100000\n");
    std::filesystem::remove_all(root / "sys/fs/cgroup/cpu");
    EXPECT_EQ(read_cpu_quota(root), std::nullopt);
    put("sys/fs/cgroup/cpu.max", "50000 100000\n");
    EXPECT_EQ(read_cpu_quota(root), 0.5);
}

TEST_F(Root, AnEmptyOrBrokenSystemYieldsEmptyFieldsNotErrors) {
    put("proc/meminfo", "MemTotal:\n");
    put("proc/cpuinfo", "no colon here\n");
    put("sys/devices/system/cpu/cpu0/cache/index0/size", "lots\n");
    const Environment here = read_environment(root);
    EXPECT_EQ(here.cpu_model, "");
    EXPECT_EQ(here.memory_bytes, 0u);
    EXPECT_TRUE(here.caches.empty());
}

TEST(Environment, TheRunningMachineIsSeen) {
    const Environment here = read_environment();
    EXPECT_GE(here.cores, 1);
    EXPECT_GE(here.usable_cores, 1);
    EXPECT_LE(here.usable_cores, here.cores);
    EXPECT_GT(here.memory_bytes, 1u << 20);
    EXPECT_FALSE(here.kernel.empty());
    EXPECT_FALSE(here.hostname.empty());
}

}  // namespace
}  // namespace assay::measure
