// Samples on machines that are slow: readings stored, samples marked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <utility>

#include "suite/runner/runner.hpp"
#include "suite/runner/sample/hardware_watch.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/measure/machine_folder.hpp"
#include "tests/runner/dummy_system.hpp"

namespace assay::runner {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

class HardwareWatchTest : public ::testing::Test {
  protected:
    testing::MachineFolder machine;
    testing::TemporaryFolder folder;
    testing::EnvironmentVariable root{"ASSAY_HARDWARE_ROOT", machine.path().string()};
    testing::EnvironmentVariable nvml{"ASSAY_NVML", "libthere-is-no-such-library.so.1"};
    Registry registry = testing::make_dummy_registry();
    store::Store store = store::Store::open(folder / "results.db", store::Access::write);
    Request request;
    /// Called at a sample's first event.
    std::function<void()> meanwhile = [] {};

    HardwareWatchTest() {
        request.patterns = {"dummy/behave"};
        request.axes["how"] = {std::string("slow")};
        request.lock = false;
    }
    store::Sample run() {
        bool told = false;
        const Outcome outcome = execute(
            registry, make_plan(registry, request), request, store, [&](const Notice& notice) {
                if (notice.kind == "event" && !std::exchange(told, true)) meanwhile();
            });
        EXPECT_THAT(outcome.samples, SizeIs(1));
        return store.sample(outcome.samples.at(0).id);
    }
};

TEST_F(HardwareWatchTest, AHealthyMachinesReadingsAreStored) {
    machine.put_server();
    const store::Sample sample = run();
    EXPECT_EQ(sample.status, "ok") << sample.reason;
    ASSERT_GE(sample.hardware.size(), 2U) << "before and after";
    for (const store::HardwareReading& reading : sample.hardware) {
        EXPECT_EQ(reading.device, "cpu");
        EXPECT_DOUBLE_EQ(reading.clock_hz.value(), 3e9);
        EXPECT_DOUBLE_EQ(reading.temperature_c.value(), 64.5);
        EXPECT_FALSE(reading.memory_clock_hz);
        EXPECT_EQ(reading.throttle_reasons, "");
    }
    EXPECT_EQ(sample.hardware.front().t_s, 0);
    EXPECT_NEAR(sample.hardware.back().t_s, sample.seconds, 0.1);
    const store::TimeSeries* others = nullptr;
    for (const store::TimeSeries& curve : sample.series_data)
        if (curve.name == "machine/other_processes") others = &curve;
    ASSERT_NE(others, nullptr);
    EXPECT_EQ(others->unit, "cores");
    EXPECT_THAT(others->values, SizeIs(1));
}

TEST_F(HardwareWatchTest, ASampleWithThermalEventsIsInvalid) {
    machine.put_server();
    meanwhile = [&] {
        machine.put("sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "8\n");
    };
    const store::Sample sample = run();
    EXPECT_EQ(sample.status, "invalid");
    EXPECT_EQ(sample.reason, "throttled: the processor counted 3 thermal events");
    std::string told;
    for (const store::HardwareReading& reading : sample.hardware) told += reading.throttle_reasons;
    EXPECT_EQ(told, "thermal") << "by one of the readings, the one after it happened";
    EXPECT_THAT(sample.metrics, SizeIs(1)) << "marked, not thrown away";
}

TEST_F(HardwareWatchTest, ASampleHeldBackByAQuotaIsInvalid) {
    machine.put_server();
    meanwhile = [&] {
        machine.put("sys/fs/cgroup/box/inner/cpu.stat", "throttled_usec 9500000\n");
    };
    const store::Sample sample = run();
    EXPECT_EQ(sample.status, "invalid");
    EXPECT_THAT(sample.reason, HasSubstr("quota held back 8.00 core-seconds"));
}

TEST_F(HardwareWatchTest, ASlowClockWhileItRunsIsNamed) {
    machine.put_server();
    machine.remove("proc/stat");  // how busy it is nobody knows
    for (const char* cpu : {"cpu0", "cpu1"})
        machine.put(std::string("sys/devices/system/cpu/") + cpu + "/cpufreq/scaling_cur_freq",
                    "1891000\n");
    // Long enough for a look while the process is still there.
    meanwhile = [] { std::this_thread::sleep_for(std::chrono::milliseconds(150)); };
    const store::Sample sample = run();
    EXPECT_EQ(sample.status, "invalid");
    EXPECT_EQ(sample.reason, "throttled: clock 61 % of 3.1 GHz");
    EXPECT_GE(sample.hardware.size(), 3U);
}

TEST_F(HardwareWatchTest, WhatFailedKeepsItsOwnReason) {
    machine.put_server();
    request.axes["how"] = {std::string("resumable")};
    request.timeout_s = 0.5;
    meanwhile = [&] {
        machine.put("sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "8\n");
    };
    const store::Sample sample = run();
    EXPECT_EQ(sample.status, "failed");
    EXPECT_THAT(sample.reason, HasSubstr("timeout"));
    EXPECT_GE(sample.hardware.size(), 4U) << "looked at twice while it waited";
}

TEST_F(HardwareWatchTest, ExactSamplesAreNotWatched) {
    machine.put_server();
    request.patterns = {"dummy/sum"};
    request.axes = {{"n", {std::int64_t{2}}}};
    request.variants = {"a"};
    meanwhile = [&] {
        machine.put("sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "8\n");
    };
    const store::Sample sample = run();
    EXPECT_EQ(sample.status, "ok");
    EXPECT_THAT(sample.hardware, SizeIs(0));
    EXPECT_THAT(sample.series_data, SizeIs(0));
}

TEST_F(HardwareWatchTest, AMachineThatTellsNothingMarksNothing) {
    const store::Sample sample = run();
    EXPECT_EQ(sample.status, "ok") << sample.reason;
    EXPECT_FALSE(sample.hardware.at(0).clock_hz);
}

TEST_F(HardwareWatchTest, GpusAreJudgedOnlyWhereTheSampleUsesThem) {
    const testing::EnvironmentVariable hot{"ASSAY_FAKE_NVML_MACHINE", "hot"};
    const auto watched = [&](bool on_gpus) {
        HardwareWatch watch(measure::HardwareMonitor(machine.path(), FAKE_NVML));
        watch.begin();
        watch.look(0.1);
        watch.end(0.2);
        store::Sample sample;
        sample.status = to_string(SampleStatus::ok);
        watch.judge(sample, on_gpus);
        return sample;
    };
    const store::Sample elsewhere = watched(false);
    EXPECT_EQ(elsewhere.status, "ok") << elsewhere.reason;
    EXPECT_THAT(elsewhere.hardware, SizeIs(6)) << "recorded all the same";
    EXPECT_THAT(watched(true).reason, HasSubstr("gpu0 clock 61 % of 1.98 GHz"));
}

TEST_F(HardwareWatchTest, GpusAreJudgedInEveryProfileThatUsesThem) {
    machine.put_server();
    const testing::EnvironmentVariable here{"ASSAY_NVML", FAKE_NVML};
    const testing::EnvironmentVariable hot{"ASSAY_FAKE_NVML_MACHINE", "hot"};
    // Long enough for a look while the process is still there.
    meanwhile = [] { std::this_thread::sleep_for(std::chrono::milliseconds(150)); };
    const auto status_at = [&](Profile profile, std::optional<bool> on_gpus) {
        System system = testing::make_dummy_system();
        Experiment& behave = system.experiments.at(1);
        behave.profiles.at(0).profile = profile;
        behave.profiles.at(0).on_gpus = on_gpus;
        registry = Registry();
        registry.add(std::move(system));
        request.profile = profile;
        return run().status;
    };
    EXPECT_EQ(status_at(Profile::gpu, std::nullopt), "invalid");
    EXPECT_EQ(status_at(Profile::cluster, std::nullopt), "invalid");
    EXPECT_EQ(status_at(Profile::toy, true), "invalid") << "it says so";
    EXPECT_EQ(status_at(Profile::toy, std::nullopt), "ok");
    EXPECT_EQ(status_at(Profile::gpu, false), "ok") << "it says that it does not";
}

TEST_F(HardwareWatchTest, SuspectsOfTheRequestAreTheSessions) {
    request.suspects["warnings"] = "load, governor";
    run();
    const store::Session session = store.sessions().at(0);
    EXPECT_EQ(session.suspects.at("warnings"), "load, governor");
    EXPECT_TRUE(session.suspects.contains("compiler"));
}

}  // namespace
}  // namespace assay::runner
