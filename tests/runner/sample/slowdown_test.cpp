// Samples made slower on purpose: the mark in the scenario, and that the slowdown is what was
// asked.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "suite/runner/sample/slowdown.hpp"
#include "suite/runner/sample/stored_sample.hpp"
#include "tests/runner/dummy_system.hpp"

namespace assay::runner {
namespace {

TEST(SlowdownMark, GoesIntoTheScenarioAndOutOfIt) {
    EXPECT_EQ(slowed_scenario("", 1.10), "slowdown=1.10");
    EXPECT_EQ(slowed_scenario("kill:rank=1@step=5", 1.025), "kill:rank=1@step=5; slowdown=1.025");
    EXPECT_EQ(slowed_scenario("kill:rank=1@step=5", 1), "kill:rank=1@step=5");
    for (const std::string scenario : {"", "kill:rank=1@step=5"})
        for (const double factor : {1.01, 1.02, 1.05, 1.1, 1.0 + 1.0 / 3, 10.0}) {
            const Slowdown back = slowdown_of(slowed_scenario(scenario, factor));
            EXPECT_EQ(back.scenario, scenario);
            EXPECT_EQ(back.factor, factor);
        }
}

TEST(SlowdownMark, NothingElseIsTakenForOne) {
    for (const std::string scenario :
         {"", "kill:rank=1@step=5", "slowdown=", "slowdown=abc", "slowdown=0.5", "slowdown=11",
          "slowdown=nan", "xslowdown=1.10", "slowdown=1.10 "}) {
        EXPECT_EQ(slowdown_of(scenario).factor, 1) << scenario;
        EXPECT_EQ(slowdown_of(scenario).scenario, scenario);
    }
    EXPECT_THROW(slowed_scenario("", 0.9), std::invalid_argument);
    EXPECT_THROW(slowed_scenario("", 11), std::invalid_argument);
    EXPECT_THROW(slowed_scenario("slowdown=1.10", 1.10), std::invalid_argument);
}

TEST(SlowdownMark, APlanOfSlowedSamplesIsAnother) {
    Request request;
    request.patterns = {"dummy/sum"};
    const Registry registry = assay::testing::make_dummy_registry();
    const Plan honest = make_plan(registry, request);
    Plan slowed = honest;
    slow_down(slowed, 1.05);
    EXPECT_NE(slowed.hash, honest.hash);
    for (const PlannedSample& planned : slowed.samples)
        EXPECT_EQ(planned.spec.scenario, "slowdown=1.05");
}

TEST(SlowdownMark, ASampleIsToldItsScenarioWithoutItButRecordedWithIt) {
    const Interruption interruption;
    SampleSpec spec;
    spec.experiment = "busy/spin";
    spec.variant = "same";
    spec.axes = {{"ms", std::int64_t{5}}};
    spec.provenance = Provenance::measured;
    spec.scenario = slowed_scenario("", 1.5);
    const store::Sample sample = collect_sample(
        spec, "id", [](std::string, nlohmann::json) {}, interruption);
    EXPECT_EQ(sample.status, "ok") << sample.reason;
    EXPECT_EQ(sample.spec.scenario, "slowdown=1.50");
}

double wall_clock_s() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}
/// Which share of its time a process group of its own worked, when it did a fixed amount of work.
double working_share(double factor) {
    const pid_t pid = ::fork();
    if (pid == 0) {
        ::setpgid(0, 0);
        volatile double sum = 0;
        for (int i = 0; i < 15'000'000; ++i) sum = sum + 1.0 / (1 + i);
        ::_exit(0);
    }
    ::setpgid(pid, pid);
    const double began_s = wall_clock_s();
    int status = 0;
    {
        std::optional<SlowedProcesses> slowed;
        if (factor > 1) slowed.emplace(pid, factor);
        siginfo_t ended{};
        ::waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOWAIT);
    }
    const double took_s = wall_clock_s() - began_s;
    rusage used{};
    ::wait4(pid, &status, 0, &used);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return (seconds(used.ru_utime) + seconds(used.ru_stime)) / took_s;
}

/// On a crowded machine nothing gets all of its time, and stops that fall into waiting take nothing
/// away: then the share is nearer to that of an honest process, but never above what was asked.
TEST(SlowedProcesses, GetAboutTheShareOfTheTimeThatWasAsked) {
    constexpr double asked = 1.5;
    std::vector<double> honest, slowed;
    for (int attempt = 0; attempt < 5 && (honest.empty() || honest[3] < 0.9); ++attempt) {
        honest.clear();
        slowed.clear();
        for (int round = 0; round < 7; ++round) {
            honest.push_back(working_share(1));
            slowed.push_back(working_share(asked));
        }
        std::sort(honest.begin(), honest.end());
        std::sort(slowed.begin(), slowed.end());
    }
    RecordProperty("honest", std::to_string(honest[3]));
    RecordProperty("slowed", std::to_string(slowed[3]));
    EXPECT_GT(slowed[3], honest[3] / 1.9);
    EXPECT_LT(slowed[3], 1 / 1.25);
    if (honest[3] < 0.9) GTEST_SKIP() << "the machine is too busy to tell";
}

TEST(SlowedProcesses, AStoppedProcessThatLeftTheGroupGoesOn) {
    const pid_t leader = ::fork();
    if (leader == 0) {
        ::setpgid(0, 0);
        const pid_t left_group = ::fork();
        if (left_group == 0) {
            ::setpgid(0, 0);
            ::raise(SIGSTOP);
            ::_exit(7);
        }
        int status = 0;
        ::waitpid(left_group, &status, 0);
        ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
    }
    ::setpgid(leader, leader);
    siginfo_t ended{};
    {
        const SlowedProcesses slowed(leader, 2);
        ::waitid(P_PID, static_cast<id_t>(leader), &ended, WEXITED | WNOWAIT);
    }
    int status = 0;
    ::waitpid(leader, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 7);
}

}  // namespace
}  // namespace assay::runner
