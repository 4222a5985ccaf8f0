#include "suite/measure/hardware/machine_state.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>

#include "tests/measure/machine_folder.hpp"

namespace assay::measure {
namespace {

TEST(MachineState, AServersProcessors) {
    const testing::MachineFolder machine;
    machine.put_server();
    CpuState state = read_cpu_state(machine.path());
    EXPECT_EQ(state.governors, std::vector<std::string>{"performance"});
    EXPECT_EQ(state.turbo, false);
    EXPECT_DOUBLE_EQ(state.most_clock_hz.value(), 4.2e9);
    EXPECT_FALSE(state.virtual_machine);
    // 1315 ticks of work, 30 stolen.
    EXPECT_NEAR(state.steal_share.value(), 30.0 / 1345, 1e-9);
    EXPECT_NEAR(state.quota_held_back_s.value(), 1.75, 1e-9);
    EXPECT_EQ(state.thermal_events, 10);
    EXPECT_EQ(state.address_randomisation, 2);
    machine.put("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n");
    machine.put("proc/cpuinfo", "flags\t\t: fpu hypervisor\n");
    machine.remove("sys/devices/system/cpu/intel_pstate");
    machine.put("sys/devices/system/cpu/cpufreq/boost", "1\n");
    state = read_cpu_state(machine.path());
    EXPECT_EQ(state.governors, (std::vector<std::string>{"performance", "powersave"}));
    EXPECT_EQ(state.turbo, true);
    EXPECT_TRUE(state.virtual_machine);
}

TEST(MachineState, AServersMemory) {
    const testing::MachineFolder machine;
    machine.put_server();
    machine.put("sys/devices/system/node/node1/cpulist", "\n");
    const MemoryState state = read_memory_state(machine.path());
    EXPECT_EQ(state.bytes, 16000000ull * 1024);
    EXPECT_EQ(state.available_bytes, 12000000ull * 1024);
    EXPECT_EQ(state.swap_free_bytes, 4000000ull * 1024);
    EXPECT_EQ(state.numa_nodes, 2);
    EXPECT_EQ(state.numa_balancing, false);
    EXPECT_EQ(state.transparent_huge_pages, "madvise");
}

TEST(MachineState, NothingToReadIsNoError) {
    const testing::MachineFolder machine;
    const CpuState cpu = read_cpu_state(machine.path());
    EXPECT_TRUE(cpu.governors.empty());
    EXPECT_FALSE(cpu.turbo || cpu.steal_share || cpu.thermal_events || cpu.address_randomisation);
    const MemoryState memory = read_memory_state(machine.path());
    EXPECT_FALSE(memory.bytes || memory.swap_bytes || memory.numa_balancing);
    EXPECT_EQ(memory.transparent_huge_pages, "");
    EXPECT_TRUE(busy_processes(machine.path(), 0, 0).empty());
}

TEST(MachineState, ABusyProcessIsFoundAndARestingOneIsNot) {
    const pid_t spinning = ::fork();
    if (spinning == 0)
        while (true) ::getppid();
    const pid_t resting = ::fork();
    if (resting == 0)
        while (true) ::pause();
    const auto busy = busy_processes("/", 0.3, 0.01);
    for (const pid_t pid : {spinning, resting}) {
        ::kill(pid, SIGKILL);
        ::waitpid(pid, nullptr, 0);
    }
    const auto has = [&](pid_t pid) {
        return std::any_of(busy.begin(), busy.end(),
                           [&](const BusyProcess& process) { return process.pid == pid; });
    };
    EXPECT_TRUE(has(spinning));
    EXPECT_FALSE(has(resting));
    EXPECT_FALSE(has(::getpid()));
}

TEST(MachineState, NamesWithSpacesAndParenthesesDoNotShiftTheFields) {
    const testing::MachineFolder machine;
    machine.put("proc/77/stat", "77 (a (b) c) S 1 2 3 4 5 6 7 8 9 10 500 20 0 0 20\n");
    machine.put("proc/78/stat", "78 (broken\n");
    machine.put("proc/79/stat/x", "");  // opens, but cannot be read: as a process that just ended
    const auto processes = busy_processes(machine.path(), 0, 0);
    ASSERT_EQ(processes.size(), 1U);
    EXPECT_EQ(processes[0].name, "a (b) c");
    EXPECT_EQ(processes[0].pid, 77);
}

}  // namespace
}  // namespace assay::measure
