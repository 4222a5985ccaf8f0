#include "suite/measure/hardware/clock_guard.hpp"

#include <gtest/gtest.h>

namespace assay::measure {
namespace {

const std::map<std::string, double> references{{"cpu", 3.1e9}, {"gpu0", 1.98e9}};

/// One second of a processor with one busy core.
DeviceReading cpu(double clock_hz, Phase phase = Phase::during) {
    DeviceReading reading;
    reading.device = "cpu";
    reading.phase = phase;
    reading.clock_hz = clock_hz;
    reading.busy = 1;
    reading.busy_s = 1;
    reading.elapsed_s = 1;
    reading.steal_s = 0;
    reading.quota_s = 0;
    return reading;
}

DeviceReading gpu(double clock_hz, std::vector<Throttle> throttles, double busy = 0.9) {
    DeviceReading reading;
    reading.device = "gpu0";
    reading.clock_hz = clock_hz;
    reading.busy = busy;
    reading.throttles = std::move(throttles);
    return reading;
}

std::string reason(std::vector<DeviceReading> readings) {
    const GuardVerdict verdict = guard_clock(readings, references);
    EXPECT_EQ(verdict.throttled, !verdict.reason.empty());
    return verdict.reason;
}

TEST(ClockGuard, NamesWhatNvmlsBitsMean) {
    // Values of nvmlClocksEventReasons.
    using enum Throttle;
    EXPECT_EQ(throttles_of(0x0), std::vector<Throttle>{});
    const std::vector<std::pair<unsigned long long, Throttle>> bits{
        {0x1, gpu_idle},          {0x2, application_clocks}, {0x4, power_cap},
        {0x8, hardware_slowdown}, {0x10, sync_boost},        {0x20, software_thermal},
        {0x40, hardware_thermal}, {0x80, power_brake},       {0x100, display_clock}};
    for (const auto& [bit, name] : bits)
        EXPECT_EQ(throttles_of(bit), std::vector<Throttle>{name}) << bit;
    EXPECT_EQ(throttles_of(0x48), (std::vector<Throttle>{hardware_slowdown, hardware_thermal}));
    EXPECT_EQ(throttles_of(0x200), std::vector<Throttle>{}) << "no name, no harm";
}

TEST(ClockGuard, AFullClockPasses) {
    EXPECT_EQ(reason({}), "");
    EXPECT_EQ(reason({cpu(0.8e9, Phase::before), cpu(3.3e9), cpu(3e9), cpu(0.8e9, Phase::after)}),
              "");
    EXPECT_EQ(reason({cpu(0.76 * 3.1e9)}), "");
}

TEST(ClockGuard, ALowClockIsMarkedWithItsReason) {
    EXPECT_EQ(reason({cpu(0.61 * 3.1e9)}), "throttled: clock 61 % of 3.1 GHz");
    DeviceReading hot = cpu(0.61 * 3.1e9);
    hot.thermal_events = 3;
    EXPECT_EQ(reason({hot}), "throttled: clock 61 % of 3.1 GHz (thermal)");
    EXPECT_EQ(reason({gpu(1.2e9, {Throttle::power_cap})}),
              "throttled: gpu0 clock 61 % of 1.98 GHz (power cap)");
}

TEST(ClockGuard, TheMeanCountsNotOneDip) {
    EXPECT_EQ(reason({cpu(3.1e9), cpu(3.1e9), cpu(1.0e9), cpu(3.1e9)}), "");
    EXPECT_NE(reason({cpu(3.1e9), cpu(1.0e9), cpu(1.0e9)}), "");
}

TEST(ClockGuard, AnIdleDeviceMaySlowDown) {
    DeviceReading idle = cpu(0.8e9);
    idle.busy = 0.1;
    EXPECT_EQ(reason({idle}), "");
    EXPECT_EQ(reason({gpu(0.345e9, {Throttle::gpu_idle}, 0.9)}), "");
    EXPECT_EQ(reason({gpu(0.345e9, {}, 0.01)}), "");
}

TEST(ClockGuard, WithoutAReferenceTheClockIsNotJudged) {
    const std::vector<DeviceReading> readings{cpu(0.1e9)};
    EXPECT_FALSE(guard_clock(readings, {}).throttled);
}

TEST(ClockGuard, OnlyReasonsThatSlowCount) {
    for (const Throttle harmless : {Throttle::application_clocks, Throttle::sync_boost,
                                    Throttle::display_clock, Throttle::power_cap})
        EXPECT_EQ(reason({gpu(1.9e9, {harmless})}), "") << to_string(harmless);
    for (const Throttle slowing : {Throttle::hardware_slowdown, Throttle::software_thermal,
                                   Throttle::hardware_thermal, Throttle::power_brake})
        EXPECT_EQ(reason({gpu(1.9e9, {}), gpu(1.9e9, {slowing})}),
                  "throttled: gpu0 reported " + std::string(to_string(slowing)) +
                      " in 1 of 2 busy readings");
    EXPECT_EQ(reason({gpu(1.9e9, {Throttle::hardware_thermal}, 0.0)}), "") << "nobody used it";
}

TEST(ClockGuard, ThermalEventsQuotaAndStealAreCountedFromStartToEnd) {
    DeviceReading thermal = cpu(3.1e9, Phase::after);
    thermal.thermal_events = 1;
    EXPECT_EQ(reason({thermal}), "throttled: the processor counted 1 thermal event");
    DeviceReading quota = cpu(3.1e9), calm = cpu(3.1e9, Phase::after);
    quota.quota_s = 0.3;
    EXPECT_EQ(reason({quota, calm}),
              "throttled: the control group's quota held back 0.30 core-seconds in 2.00 s");
    DeviceReading steal = cpu(3.1e9);
    steal.steal_s = 1;
    EXPECT_EQ(reason({steal, calm}), "throttled: the hypervisor took 33 % of the processor time");
    thermal.phase = quota.phase = steal.phase = Phase::before;
    EXPECT_EQ(reason({thermal, quota, steal, cpu(3.1e9)}), "") << "that was before the sample";
}

TEST(ClockGuard, OrdinaryDisturbancePasses) {
    DeviceReading noisy = cpu(3.1e9);
    noisy.steal_s = 0.2;
    noisy.quota_s = 0.04;
    EXPECT_EQ(reason({noisy}), "");
    // The kernel counts in hundredths: one tick in a sample of 30 ms says nothing.
    DeviceReading brief = cpu(3.1e9);
    brief.elapsed_s = brief.busy_s = 0.03;
    brief.steal_s = 0.02;
    EXPECT_EQ(reason({brief}), "");
    EXPECT_TRUE(throttles_between(brief).empty());
}

TEST(ClockGuard, AllComplaintsAreNamed) {
    DeviceReading steal = cpu(1e9);
    steal.steal_s = 1;
    EXPECT_EQ(reason({steal, gpu(1.9e9, {Throttle::power_brake})}),
              "throttled: clock 32 % of 3.1 GHz; the hypervisor took 50 % of the processor time; "
              "gpu0 reported power brake in 1 of 1 busy readings");
    EXPECT_EQ(throttles_between(steal), std::vector<Throttle>{Throttle::steal});
}

}  // namespace
}  // namespace assay::measure
