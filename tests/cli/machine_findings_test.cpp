// What doctor says about machines that do not exist.
#include "suite/cli/machine_findings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "suite/cli/warnings_before_run.hpp"
#include "tests/measure/machine_folder.hpp"
#include "tests/runner/temporary_folder.hpp"

namespace assay::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
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

std::vector<Finding> cpu(const testing::MachineFolder& machine) {
    return cpu_findings(measure::read_cpu_state(machine.path()), 2);
}

std::vector<Finding> memory(const testing::MachineFolder& machine) {
    return memory_findings(measure::read_memory_state(machine.path()));
}

/// The stand-in for NVML playing one of its machines.
std::vector<Finding> gpus(const char* machine) {
    ::setenv("ASSAY_FAKE_NVML_MACHINE", machine, 1);
    const std::vector<Finding> findings = gpu_findings(measure::Nvml(FAKE_NVML));
    ::unsetenv("ASSAY_FAKE_NVML_MACHINE");
    return findings;
}

TEST(MachineFindings, AWellKeptServerIsNotWarnedOf) {
    const testing::MachineFolder machine;
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
    const testing::MachineFolder machine;
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
    const testing::MachineFolder machine;
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

TEST(MachineFindings, AProcessThatGetsOneTickIsNotBusy) {
    const testing::MachineFolder machine;
    machine.put_server();
    const auto spent = [&](const std::string& ticks) {
        machine.put("proc/77/stat", "77 (cron) S 1 2 3 4 5 6 7 8 9 10 " + ticks + " 0 0 20\n");
    };
    spent("500");
    const testing::EnvironmentVariable root("ASSAY_HARDWARE_ROOT", machine.path().string());
    const testing::EnvironmentVariable nvml("ASSAY_NVML", "libthere-is-no-such-library.so.1");
    std::thread meanwhile([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        spent("501");
    });
    runner::Plan plan;
    plan.samples.resize(1);
    plan.samples[0].spec.provenance = Provenance::measured;
    const auto names = warnings_before_run(plan, 0);
    meanwhile.join();
    EXPECT_THAT(names.value(), Not(HasSubstr("processes")));
}

/// A machine on which something is busy in these looks, half a second each.
struct BusyLooks {
    std::vector<bool> busy;
    std::size_t looks = 0, told = 0;

    bool wait(double most_s) {
        return wait_until_quiet(
            {0.5,
             [&] {
                 const bool now = looks < busy.size() && busy[looks];
                 ++looks;
                 return now ? std::vector<measure::BusyProcess>{{7, "cc1plus", 1.0}}
                            : std::vector<measure::BusyProcess>{};
             },
             [&](double, const std::vector<measure::BusyProcess>&) { ++told; }},
            most_s);
    }
};

TEST(QuietWait, TwoQuietSecondsOnEndAreEnough) {
    BusyLooks compiler{{true, true, true}};
    EXPECT_TRUE(compiler.wait(20));
    EXPECT_EQ(compiler.looks, 3U + 4U);
    EXPECT_GT(compiler.told, 0U);

    BusyLooks pause{{true, false, false, false, true}};
    EXPECT_TRUE(pause.wait(20));
    EXPECT_EQ(pause.looks, 5U + 4U) << "a pause of a second and a half is no end";
}

TEST(QuietWait, ItIsBounded) {
    BusyLooks neighbour{std::vector<bool>(1000, true)};
    EXPECT_FALSE(neighbour.wait(20));
    EXPECT_EQ(neighbour.looks, 40U);
    BusyLooks impatient{{true}};
    EXPECT_FALSE(impatient.wait(0));
    EXPECT_EQ(impatient.looks, 0U);
}

TEST(QuietWait, ALoadThatIsOverIsNoWarning) {
    const testing::MachineFolder machine;
    machine.put_server();
    machine.put("proc/loadavg", "9.00 5.00 1.00 1/100 1\n");
    const testing::EnvironmentVariable root("ASSAY_HARDWARE_ROOT", machine.path().string());
    const testing::EnvironmentVariable nvml("ASSAY_NVML", "libthere-is-no-such-library.so.1");
    runner::Plan plan;
    plan.samples.resize(1);
    plan.samples[0].spec.provenance = Provenance::measured;
    EXPECT_THAT(warnings_before_run(plan, 0).value(), HasSubstr("load"));
    EXPECT_THAT(warnings_before_run(plan, 10).value(), Not(HasSubstr("load")));
}

TEST(MachineFindings, GpusAtRestAreNotWarnedOf) {
    const auto findings = gpus("");
    EXPECT_THAT(warned(findings), IsEmpty());
    EXPECT_EQ(says(findings, "gpu0 clock"), "345 MHz of 1980 MHz, 34 °C");
    EXPECT_EQ(says(findings, "gpu0 power"), "limit 700 W");
    EXPECT_EQ(says(findings, "gpu1 clock"), "(not there)") << "it does not tell";
    EXPECT_THAT(gpu_findings(measure::Nvml("libthere-is-no-such-library.so.1")), IsEmpty());
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
    EXPECT_THAT(warned(findings), UnorderedElementsAre("gpu0 persistence", "gpu0 ecc", "gpu0 power",
                                                       "gpu0 mig", "gpu0 processes"));
    EXPECT_THAT(says(findings, "gpu0 power"), HasSubstr("400 W of 700 W"));
    EXPECT_THAT(says(findings, "gpu0 ecc"), HasSubstr("on now, off after the next reset"));
    EXPECT_THAT(says(findings, "gpu0 processes"), HasSubstr("70 other: pid 4000, 4001"));
}

}  // namespace
}  // namespace assay::cli
