// One sample in a process of its own: every way in which it can end, and that nothing survives it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "suite/base/error.hpp"
#include "suite/runner/runner.hpp"
#include "suite/runner/sample/sample_process.hpp"
#include "suite/runner/sample/stored_sample.hpp"
#include "tests/base/processes.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/runner/dummy_system.hpp"

namespace assay::runner {
namespace {

using assay::testing::EnvironmentVariable;
using assay::testing::eventually;
using assay::testing::is_gone;
using assay::testing::pids_in;
using assay::testing::TemporaryFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;

class SampleProcessTest : public ::testing::Test {
  protected:
    TemporaryFolder folder;
    EnvironmentVariable pids{"ASSAY_TEST_PIDS", (folder / "pids").string()};
    Interruption interruption;
    std::vector<std::string> told;

    store::Sample run(const std::string& how, double timeout_s = 60,
                      const SampleProgram& program = {}) {
        SampleSpec spec;
        spec.experiment = "dummy/behave";
        spec.variant = "only";
        spec.axes = {{"how", how}};
        spec.provenance = Provenance::measured;
        spec.timeout_s = timeout_s;
        return collect_sample(
            spec, "id", [&](std::string kind, nlohmann::json) { told.push_back(std::move(kind)); },
            interruption, program);
    }
    std::set<pid_t> sample_pids() const { return pids_in(folder / "pids"); }
};

TEST_F(SampleProcessTest, EverythingRecordedArrives) {
    const store::Sample sample = run("rich");
    EXPECT_EQ(sample.status, "ok") << sample.reason;
    ASSERT_EQ(sample.metrics.size(), 1U);
    EXPECT_EQ(sample.metrics[0].value, 1);
    ASSERT_EQ(sample.series_data.size(), 1U);
    EXPECT_EQ(sample.series_data[0].labels.at("rank"), Value(std::int64_t{1}));
    ASSERT_EQ(sample.tables.size(), 1U);
    EXPECT_EQ(sample.tables[0].rows[0][1], Value(std::string("me")));
    ASSERT_EQ(sample.artifacts.size(), 1U);
    EXPECT_EQ(sample.artifacts[0].bytes, std::string("\0\xff\n{", 4));
    EXPECT_THAT(told, ::testing::ElementsAre("progress"));
    EXPECT_TRUE(sample.spec.scratch.empty());
}

TEST_F(SampleProcessTest, ErrorsBecomeStatusesWithTheirOwnWords) {
    struct {
        const char *how, *status, *reason;
    } const expected[] = {
        {"throw", "failed", "the experiment gave up"},
        {"user", "failed", "the corpus is missing: fetch it"},
        {"unsupported", "unsupported", "no GPU here"},
        {"invalid", "invalid", "overran by 7 %"},
        {"nan", "invalid", "metric value is not finite: nan"},
        {"undeclared", "failed", "metric 'surprise' is not declared by dummy/behave"},
        {"of others", "failed",
         "metric 'computed' of dummy/behave is not declared for measured samples"},
    };
    for (const auto& row : expected) {
        const store::Sample sample = run(row.how);
        EXPECT_EQ(sample.status, row.status) << row.how;
        EXPECT_EQ(sample.reason, row.reason) << row.how;
    }
}

TEST_F(SampleProcessTest, ACrashIsAFailureThatQuotesTheLastOutput) {
    const store::Sample sample = run("crash");
    EXPECT_EQ(sample.status, "failed");
    EXPECT_THAT(sample.reason, AllOf(HasSubstr("signal 11"), HasSubstr("about to crash")));
    EXPECT_THAT(run("exit").reason, HasSubstr("exited with status 7"));
}

TEST_F(SampleProcessTest, NonsenseOnTheResultPipeIsAFailure) {
    const store::Sample sample = run("nonsense");
    EXPECT_EQ(sample.status, "failed");
    EXPECT_THAT(sample.reason, HasSubstr("line of kind 'metric'"));
}

TEST_F(SampleProcessTest, TimeoutKillsEvenWhatIgnoresSigterm) {
    const store::Sample sample = run("stubborn", 0.2);
    EXPECT_EQ(sample.status, "failed");
    EXPECT_EQ(sample.reason, "timeout: not done after 0.2 s");
    ASSERT_EQ(sample_pids().size(), 1U);
    for (const pid_t pid : sample_pids()) EXPECT_TRUE(is_gone(pid));
}

/// A sample that writes without pause to its output or its results.
class Flood : public SampleProcessTest, public ::testing::WithParamInterface<const char*> {
  protected:
    /// Far more than its end takes, on however busy a machine.
    static constexpr double half_of_it_s =
        std::chrono::duration<double>(testing::flood_time).count() / 2;
};
INSTANTIATE_TEST_SUITE_P(To, Flood, ::testing::Values("flood_output", "flood_results"));

TEST_P(Flood, IsTimedOut) {
    const store::Sample sample = run(GetParam(), 0.5);
    EXPECT_EQ(sample.status, "failed");
    EXPECT_EQ(sample.reason, "timeout: not done after 0.5 s");
    EXPECT_LT(sample.seconds, half_of_it_s);
}

TEST_P(Flood, IsInterrupted) {
    std::thread killer([&] {
        eventually([&] { return !sample_pids().empty(); });
        ::kill(::getpid(), SIGINT);
    });
    const store::Sample sample = run(GetParam());
    killer.join();
    EXPECT_EQ(sample.status, "interrupted");
    EXPECT_LT(sample.seconds, half_of_it_s);
}

TEST_F(SampleProcessTest, ASampleThatRecordsWithoutEndIsStopped) {
    constexpr std::size_t bound = 1 << 20;
    const store::Sample sample = run("flood_results", 60, {.max_recorded_bytes = bound});
    EXPECT_EQ(sample.status, "failed");
    EXPECT_THAT(sample.reason, HasSubstr("more than 1048576 bytes of results"));
    EXPECT_GT(sample.events.size(), bound / 2 / 1000) << "each of little more than 1000 bytes";
    EXPECT_LT(sample.events.size(), bound / 1000);
}

TEST_F(SampleProcessTest, NoDescendantOutlivesASampleThatEndsWell) {
    const store::Sample sample = run("detach");
    EXPECT_EQ(sample.status, "ok") << sample.reason;
    ASSERT_EQ(sample_pids().size(), 2U);
    for (const pid_t pid : sample_pids()) EXPECT_TRUE(is_gone(pid)) << pid;
}

TEST_F(SampleProcessTest, NoDescendantOutlivesATimeout) {
    run("detach_and_hang", 0.5);
    ASSERT_EQ(sample_pids().size(), 2U);
    for (const pid_t pid : sample_pids()) EXPECT_TRUE(is_gone(pid)) << pid;
}

TEST_F(SampleProcessTest, ASignalInterruptsTheRunningSample) {
    std::thread killer([&] {
        eventually([&] { return !sample_pids().empty(); });
        ::kill(::getpid(), SIGINT);
    });
    const store::Sample sample = run("hang");
    killer.join();
    EXPECT_EQ(sample.status, "interrupted");
    for (const pid_t pid : sample_pids()) EXPECT_TRUE(is_gone(pid));
}

TEST_F(SampleProcessTest, NoDescriptorIsLeftOpen) {
    const auto open_descriptors = [] {
        long count = 0;
        for ([[maybe_unused]] const auto& entry :
             std::filesystem::directory_iterator("/proc/self/fd"))
            ++count;
        return count;
    };
    run("well");
    const long before = open_descriptors();
    for (const char* how : {"well", "crash", "nonsense", "throw"}) run(how);
    EXPECT_EQ(open_descriptors(), before);
}

// `assay sample` started by hand does nothing but say so.
TEST(SampleMainDeathTest, WithoutARunnerItRefuses) {
    ::testing::GTEST_FLAG(death_test_style) = "fast";
    EXPECT_EXIT(
        {
            ::close(result_fd);
            try {
                sample_main(assay::testing::make_dummy_registry());
            } catch (const UserError& error) {
                ::_exit(std::string(error.what()).find("assay run") != std::string::npos ? 1 : 2);
            }
            ::_exit(0);
        },
        ::testing::ExitedWithCode(1), "");
}

}  // namespace
}  // namespace assay::runner
