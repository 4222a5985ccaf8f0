#include "suite/measure/environment.hpp"

#include <gtest/gtest.h>

#include "tests/measure/machine_folder.hpp"

namespace assay::measure {
namespace {

TEST(Environment, ReadsAnX86Machine) {
    const testing::MachineFolder machine;
    machine.put(
        "proc/cpuinfo",
        "processor\t: 0\nmodel name\t: AMD EPYC\ncpu family\t: 25\nmodel\t\t: 17\nstepping\t: 1\n\n"
        "processor\t: 1\nmodel name\t: something else\n\n");
    machine.put("proc/meminfo", "MemFree: 5 kB\nMemTotal:       4028440 kB\n");
    machine.put("proc/loadavg", "1.25 0.50 0.25 1/200 999\n");
    machine.put("etc/os-release", "NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n");
    machine.put("sys/devices/system/cpu/cpu0/cache/index0/size", "32K\n");
    machine.put("sys/devices/system/cpu/cpu0/cache/index0/level", "1\n");
    machine.put("sys/devices/system/cpu/cpu0/cache/index0/type", "Data\n");
    machine.put("sys/devices/system/cpu/cpu0/cache/index1/size", "32M\n");
    machine.put("sys/devices/system/cpu/cpu0/cache/index1/level", "3\n");
    machine.put("sys/devices/system/cpu/cpu0/cache/index1/type", "Unified\n");
    machine.put("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
    const Environment here = read_environment(machine.path());
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

TEST(Environment, AnArmProcessorIsNamedByItsPart) {
    const testing::MachineFolder machine;
    machine.put("proc/cpuinfo",
                "processor : 0\nCPU implementer : 0x41\nCPU variant : 0x3\nCPU part : 0xd0c\n\n");
    EXPECT_EQ(read_cpu_model(machine.path()), "Arm implementer 0x41 part 0xd0c variant 0x3");
}

TEST(Environment, TheControlGroupsQuotaCountsInBothVersions) {
    const testing::MachineFolder machine;
    EXPECT_EQ(read_cpu_quota(machine.path()), std::nullopt);
    machine.put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    machine.put("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    EXPECT_EQ(read_cpu_quota(machine.path()), std::nullopt);
    machine.put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "150000\n");
    EXPECT_EQ(read_cpu_quota(machine.path()), 1.5);
    machine.put("sys/fs/cgroup/cpu.max", "max 100000\n");
    machine.remove("sys/fs/cgroup/cpu");
    EXPECT_EQ(read_cpu_quota(machine.path()), std::nullopt);
    machine.put("sys/fs/cgroup/cpu.max", "50000 100000\n");
    EXPECT_EQ(read_cpu_quota(machine.path()), 0.5);
}

TEST(Environment, AnEmptyOrBrokenSystemYieldsEmptyFieldsNotErrors) {
    const testing::MachineFolder machine;
    machine.put("proc/meminfo", "MemTotal:\n");
    machine.put("proc/cpuinfo", "no colon here\n");
    machine.put("sys/devices/system/cpu/cpu0/cache/index0/size", "lots\n");
    const Environment here = read_environment(machine.path());
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

TEST(Gpus, NamesMemoryAndDriverComeFromTheLibrary) {
    const Gpus gpus = read_gpus(FAKE_NVML);
    ASSERT_EQ(gpus.devices.size(), 2u);
    EXPECT_EQ(gpus.devices[0].name, "NVIDIA H200");
    EXPECT_EQ(gpus.devices[0].memory_bytes, 150754820096u);
    EXPECT_EQ(gpus.devices[1].name, "NVIDIA T4");
    EXPECT_EQ(gpus.devices[1].memory_bytes, 0u);
    EXPECT_EQ(gpus.driver, "580.12");
    EXPECT_EQ(gpus.reason, "");
}

TEST(Gpus, NoLibraryMeansNoGpusAndNoComplaint) {
    const Gpus gpus = read_gpus("libthere-is-no-such-library.so.1");
    EXPECT_TRUE(gpus.devices.empty());
    EXPECT_EQ(gpus.reason, "");
}

TEST(Gpus, ALibraryThatDoesNotStartIsNamedWithItsError) {
    const testing::EnvironmentVariable error("ASSAY_FAKE_NVML_ERROR", "9");
    const Gpus gpus = read_gpus(FAKE_NVML);
    EXPECT_TRUE(gpus.devices.empty());
    EXPECT_NE(gpus.reason.find("NVML error 9"), std::string::npos) << gpus.reason;
}

TEST(Gpus, ALibraryWithoutTheEntryPointsIsNotCalled) {
    const Gpus gpus = read_gpus(HOLLOW_NVML);
    EXPECT_TRUE(gpus.devices.empty());
    EXPECT_NE(gpus.reason.find("lacks entry points"), std::string::npos) << gpus.reason;
}

}  // namespace
}  // namespace assay::measure
