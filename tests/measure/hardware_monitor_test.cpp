#include "suite/measure/hardware/hardware_monitor.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "tests/measure/machine_folder.hpp"

namespace assay::measure {
namespace {

constexpr const char* no_library = "libthere-is-no-such-library.so.1";

/// Chooses the machine that the stand-in for NVML plays.
struct FakeMachine : testing::EnvironmentVariable {
    explicit FakeMachine(const char* name) : EnvironmentVariable("ASSAY_FAKE_NVML_MACHINE", name) {}
};

TEST(HardwareMonitor, ReadsAServersProcessors) {
    const testing::MachineFolder machine;
    machine.put_server();
    HardwareMonitor monitor(machine.path(), no_library);
    EXPECT_DOUBLE_EQ(monitor.reference_clocks_hz().at("cpu"), 3.1e9) << "not the turbo's";
    const auto readings = monitor.read(0, Phase::before);
    ASSERT_EQ(readings.size(), 1U);
    EXPECT_EQ(readings[0].device, "cpu");
    EXPECT_DOUBLE_EQ(readings[0].clock_hz.value(), 3e9) << "the fastest core's";
    EXPECT_DOUBLE_EQ(readings[0].temperature_c.value(), 64.5) << "the hottest core's, no disk's";
    EXPECT_FALSE(readings[0].memory_clock_hz);
    EXPECT_FALSE(readings[0].busy_s) << "there is no reading before the first";
    EXPECT_FALSE(readings[0].power_w);
}

TEST(HardwareMonitor, CountsWhatHappenedSinceTheReadingBefore) {
    const testing::MachineFolder machine;
    machine.put_server();
    HardwareMonitor monitor(machine.path(), no_library);
    monitor.read(0, Phase::before);
    const double tick_s = 1.0 / static_cast<double>(::sysconf(_SC_CLK_TCK));
    machine.put("proc/stat", "cpu  1150 110 230 5100 60 6 14 47 7 0\n");
    machine.put("sys/fs/cgroup/box/cpu.stat", "usage_usec 9\nthrottled_usec 1000000\n");
    machine.put("sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", "9\n");
    machine.put("sys/class/powercap/intel-rapl:0/energy_uj", "3000000\n");
    machine.put("sys/class/powercap/intel-rapl:1/energy_uj", "9000000\n");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const DeviceReading reading = monitor.read(1, Phase::after).at(0);
    EXPECT_NEAR(reading.busy_s.value(), (150 + 10 + 30 + 1 + 4) * tick_s, 1e-9);
    EXPECT_NEAR(reading.steal_s.value(), 17 * tick_s, 1e-9);
    EXPECT_NEAR(reading.quota_s.value(), 0.75, 1e-9) << "the group above counts too";
    EXPECT_EQ(reading.thermal_events, 4);
    ASSERT_GE(reading.elapsed_s.value(), 0.02);
    EXPECT_NEAR(reading.power_w.value() * *reading.elapsed_s, 2.0, 1e-9)
        << "joules, one package, not the platform";
    EXPECT_NEAR(reading.busy.value() * *reading.elapsed_s, *reading.busy_s, 1e-9);
}

TEST(HardwareMonitor, AnEnergyCounterThatStartsAgainIsMended) {
    const testing::MachineFolder machine;
    machine.put_server();
    machine.put("sys/class/powercap/intel-rapl:0/energy_uj", "262142000000\n");
    HardwareMonitor monitor(machine.path(), no_library);
    monitor.read(0, Phase::before);
    machine.put("sys/class/powercap/intel-rapl:0/energy_uj", "2000000\n");
    const DeviceReading reading = monitor.read(1, Phase::after).at(0);
    EXPECT_NEAR(reading.power_w.value() * *reading.elapsed_s, 3.0, 1e-6);
}

TEST(HardwareMonitor, ControlGroupsOfVersion1AreReadToo) {
    const testing::MachineFolder machine;
    machine.put("proc/self/cgroup", "5:memory:/box\n2:cpu,cpuacct:/box\n0::/\n");
    machine.put("sys/fs/cgroup/cpu,cpuacct/box/cpu.stat", "nr_periods 4\nthrottled_time 0\n");
    HardwareMonitor monitor(machine.path(), no_library);
    monitor.read(0, Phase::before);
    machine.put("sys/fs/cgroup/cpu,cpuacct/box/cpu.stat", "nr_periods 9\nthrottled_time 3000000\n");
    EXPECT_NEAR(monitor.read(1, Phase::after).at(0).quota_s.value(), 0.003, 1e-12);
}

TEST(HardwareMonitor, TheReferenceClockComesFromWhereverTheMachineTells) {
    const testing::MachineFolder machine;
    const auto reference = [&] { return CpuSensors(machine.path()).reference_clock_hz(); };
    EXPECT_FALSE(reference());
    machine.put("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "2400000\n");
    EXPECT_FALSE(reference()) << "the turbo's";
    machine.put("proc/cpuinfo", "processor : 0\nmodel name : Xeon E5 @ 2.60GHz\ncpu MHz : 1200\n");
    EXPECT_DOUBLE_EQ(reference().value(), 2.6e9);
    machine.put("sys/devices/system/cpu/cpu0/acpi_cppc/nominal_freq", "2450\n");
    EXPECT_DOUBLE_EQ(reference().value(), 2.45e9);
    EXPECT_DOUBLE_EQ(CpuSensors(machine.path()).clock_hz().value(), 1.2e9);
}

TEST(HardwareMonitor, AMachineThatTellsNothingHasEmptyReadings) {
    const testing::MachineFolder machine;
    machine.put("proc/stat", "cpu  nonsense\n");
    machine.put("proc/self/cgroup", "nonsense\n0:\n::\n");
    machine.put("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "<unknown>\n");
    HardwareMonitor monitor(machine.path(), no_library);
    monitor.read(0, Phase::before);
    const DeviceReading reading = monitor.read(1, Phase::during).at(0);
    EXPECT_FALSE(reading.clock_hz || reading.temperature_c || reading.power_w || reading.busy_s ||
                 reading.steal_s || reading.quota_s || reading.thermal_events);
    EXPECT_TRUE(monitor.reference_clocks_hz().empty());
}

TEST(HardwareMonitor, GpusTellClocksTemperaturePowerAndReasons) {
    const FakeMachine hot("hot");
    const testing::MachineFolder machine;
    HardwareMonitor monitor(machine.path(), FAKE_NVML);
    EXPECT_DOUBLE_EQ(monitor.reference_clocks_hz().at("gpu0"), 1.98e9)
        << "the most, where no default is told";
    const auto readings = monitor.read(2.5, Phase::during);
    ASSERT_EQ(readings.size(), 2U);
    const DeviceReading& gpu = readings[1];
    EXPECT_EQ(gpu.device, "gpu0");
    EXPECT_DOUBLE_EQ(gpu.t_s, 2.5);
    EXPECT_DOUBLE_EQ(gpu.clock_hz.value(), 1.2e9);
    EXPECT_DOUBLE_EQ(gpu.memory_clock_hz.value(), 3.201e9);
    EXPECT_DOUBLE_EQ(gpu.temperature_c.value(), 91);
    EXPECT_DOUBLE_EQ(gpu.power_w.value(), 76.5);
    EXPECT_DOUBLE_EQ(gpu.busy.value(), 0.97);
    EXPECT_EQ(gpu.throttles, std::vector<Throttle>{Throttle::software_thermal});
}

TEST(HardwareMonitor, AGpuThatTellsOnlyItsNameIsReadAsEmpty) {
    const testing::MachineFolder machine;
    HardwareMonitor monitor(machine.path(), FAKE_NVML);
    const auto readings = monitor.read(0, Phase::before);
    ASSERT_EQ(readings.size(), 3U);
    EXPECT_EQ(readings[1].throttles, std::vector<Throttle>{Throttle::gpu_idle});
    EXPECT_EQ(readings[2].device, "gpu1");
    EXPECT_FALSE(readings[2].clock_hz || readings[2].temperature_c || readings[2].busy);
    EXPECT_TRUE(readings[2].throttles.empty());
    EXPECT_EQ(monitor.reference_clocks_hz().count("gpu1"), 0U);
}

TEST(HardwareMonitor, AGpuThatDoesNotAnswerShiftsNoNames) {
    const FakeMachine lost("lost");
    const testing::MachineFolder machine;
    HardwareMonitor monitor(machine.path(), FAKE_NVML);
    const auto readings = monitor.read(0, Phase::before);
    ASSERT_EQ(readings.size(), 2U);
    EXPECT_EQ(readings[1].device, "gpu1");
    EXPECT_DOUBLE_EQ(readings[1].clock_hz.value(), 0.345e9);
    EXPECT_DOUBLE_EQ(monitor.reference_clocks_hz().at("gpu1"), 1.98e9);
}

TEST(HardwareMonitor, TheRunningMachineIsRead) {
    HardwareMonitor monitor("/", no_library);
    monitor.read(0, Phase::before);
    const DeviceReading reading = monitor.read(1, Phase::after).at(0);
    EXPECT_TRUE(reading.busy_s.has_value()) << "every Linux has /proc/stat";
}

}  // namespace
}  // namespace assay::measure
