// What a measured run says of the machine before it begins, and how it waits for a quiet one.
#include "suite/cli/run/warnings_before_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "tests/base/temporary_folder.hpp"
#include "tests/measure/machine_folder.hpp"

namespace assay::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(WarningsBeforeRun, AProcessThatGetsOneTickIsNotBusy) {
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

}  // namespace
}  // namespace assay::cli
