// What is said about machines that do not exist.
#include "suite/measure/machine_findings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/measure/machine_folder.hpp"

namespace assay::measure {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::vector<std::string> warned(const std::vector<Finding>& findings) {
    std::vector<std::string> names;
    for (const Finding& finding : findings)
        if (finding.level != Level::ok) names.push_back(finding.name);
    return names;
}

std::string says(const std::vector<Finding>& findings, const std::string& name) {
    for (const Finding& finding : findings)
        if (finding.name == name) return finding.says;
    return "(not there)";
}

std::vector<Finding> cpu(const assay::testing::MachineFolder& machine) {
    return cpu_findings(read_cpu_state(machine.path()), 2);
}

std::vector<Finding> memory(const assay::testing::MachineFolder& machine) {
    return memory_findings(read_memory_state(machine.path()));
}

/// The stand-in for NVML playing one of its machines.
std::vector<Finding> gpus(const char* machine) {
    const assay::testing::EnvironmentVariable played("ASSAY_FAKE_NVML_MACHINE", machine);
    return gpu_findings(Nvml(FAKE_NVML));
}

TEST(MachineFindings, AWellKeptServerIsNotWarnedOf) {
    const assay::testing::MachineFolder machine;
    machine.put_server();
    for (const char* cpu : {"cpu0", "cpu1"})
        machine.put(
            std::string("sys/devices/system/cpu/") + cpu + "/thermal_throttle/core_throttle_count",
            "0\n");
    machine.put("proc/stat", "cpu  1000 100 200 5000 50 5 10 3 7 0\n");
    EXPECT_THAT(warned(cpu(machine)), IsEmpty());
    EXPECT_THAT(warned(memory(machine)), IsEmpty());
    EXPECT_EQ(says(cpu(machine), "clock"),
              "3.00 GHz now, 3.10 GHz under full load, 4.20 GHz at most, 64 °C");
}

TEST(MachineFindings, ANeglectedServerIsWarnedOfEverything) {
    const assay::testing::MachineFolder machine;
    machine.put_server();
    machine.put("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n");
    machine.put("sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", "2000000\n");
    machine.put("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n");
    machine.put("proc/loadavg", "1.50 0.10 0.10 1/100 999\n");
    machine.put("proc/stat", "cpu  1000 100 200 5000 50 5 10 300 7 0\n");
    machine.put("proc/sys/kernel/randomize_va_space", "0\n");
    machine.put("sys/fs/cgroup/cpu.max", "150000 100000\n");
    machine.put("proc/meminfo",
                "MemTotal: 16000000 kB\nMemAvailable: 500000 kB\nSwapTotal: 4000000 kB\n"
                "SwapFree: 1000000 kB\n");
    machine.put("sys/devices/system/node/node1/cpulist", "\n");
    machine.put("proc/sys/kernel/numa_balancing", "1\n");
    machine.put("sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n");
    EXPECT_THAT(warned(cpu(machine)),
                UnorderedElementsAre("governor", "clock", "turbo", "load", "thermal", "steal",
                                     "quota", "addresses"));
    EXPECT_THAT(warned(memory(machine)),
                UnorderedElementsAre("memory", "swap", "numa", "huge pages"));
    EXPECT_THAT(says(cpu(machine), "governor"), HasSubstr("performance, powersave"));
    EXPECT_THAT(says(cpu(machine), "quota"), HasSubstr("1.5 cores for 2 usable ones"));
    EXPECT_THAT(says(cpu(machine), "steal"), HasSubstr("18.6 %"));
}

TEST(MachineFindings, AVirtualMachineIsNamedAndNotBlamed) {
    const assay::testing::MachineFolder machine;
    machine.put("proc/cpuinfo", "processor : 0\nflags : fpu hypervisor sse\ncpu MHz : 2596\n\n");
    EXPECT_THAT(warned(cpu(machine)), IsEmpty());
    EXPECT_THAT(says(cpu(machine), "virtual machine"), HasSubstr("yes"));
    EXPECT_THAT(warned(memory(machine)), IsEmpty()) << "what cannot be read is not little";
    EXPECT_EQ(says(memory(machine), "memory"), "not told");
}

TEST(MachineFindings, BusyProcessesAreNamed) {
    EXPECT_EQ(process_finding({}).level, Level::ok);
    const Finding finding =
        process_finding({{7, "train", 1.96}, {8, "cc1plus", 0.7}, {9, "ld", 0.4}, {10, "sh", 0.3}});
    EXPECT_EQ(finding.level, Level::warn);
    EXPECT_EQ(finding.says,
              "busy: train (pid 7) 2.0 cores, cc1plus (pid 8) 0.7 cores, ld (pid 9) 0.4 cores, 1 "
              "more; end them or wait");
}

TEST(MachineFindings, GpusAtRestAreNotWarnedOf) {
    const auto findings = gpus("");
    EXPECT_THAT(warned(findings), IsEmpty());
    EXPECT_EQ(says(findings, "gpu0 clock"), "345 MHz of 1980 MHz, 34 °C");
    EXPECT_EQ(says(findings, "gpu0 power"), "limit 700 W");
    EXPECT_EQ(says(findings, "gpu1 clock"), "(not there)") << "it does not tell";
    EXPECT_THAT(gpu_findings(Nvml("libthere-is-no-such-library.so.1")), IsEmpty());
}

TEST(MachineFindings, AGpuThatDoesNotAnswerShiftsNoNames) {
    EXPECT_EQ(says(gpus("lost"), "gpu1 clock"), "345 MHz of 1980 MHz, 34 °C");
}

TEST(MachineFindings, AHotGpuIsWarnedOf) {
    const auto findings = gpus("hot");
    EXPECT_THAT(warned(findings), UnorderedElementsAre("gpu0 clock", "gpu0 ecc", "gpu0 processes"));
    EXPECT_THAT(says(findings, "gpu0 clock"), HasSubstr("slowed: software thermal"));
    EXPECT_THAT(says(findings, "gpu0 processes"), HasSubstr("97 % busy"));
}

TEST(MachineFindings, ANeglectedGpuIsWarnedOfEverything) {
    const auto findings = gpus("neglected");
    EXPECT_THAT(warned(findings), UnorderedElementsAre("gpu0 persistence", "gpu0 ecc", "gpu0 link",
                                                       "gpu0 power", "gpu0 mig", "gpu0 processes"));
    EXPECT_THAT(says(findings, "gpu0 power"), HasSubstr("400 W of 700 W"));
    EXPECT_THAT(says(findings, "gpu0 link"), HasSubstr("8 of 16 PCIe lanes"));
    EXPECT_THAT(says(findings, "gpu0 ecc"), HasSubstr("on now, off after the next reset"));
    EXPECT_THAT(says(findings, "gpu0 processes"), HasSubstr("70 other: pid 4000, 4001"));
}

}  // namespace
}  // namespace assay::measure
