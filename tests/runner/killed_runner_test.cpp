// SIGKILL of the runner at random moments: no finished sample is lost, the database opens, nothing
// that it started survives.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

#include "suite/store/store.hpp"
#include "tests/base/processes.hpp"
#include "tests/base/temporary_folder.hpp"

namespace assay::runner {
namespace {

using assay::testing::eventually;
using assay::testing::is_gone;
using assay::testing::pids_in;
using namespace std::chrono_literals;

pid_t start_victim(const std::filesystem::path& database) {
    const std::string file = database.string();
    const pid_t pid = ::fork();
    if (pid == 0) {
        ::execl("/proc/self/exe", "victim", "victim", file.c_str(), nullptr);
        ::_exit(127);
    }
    return pid;
}

bool any_running(const std::filesystem::path& database) {
    const store::Store store = store::Store::open(database, store::Access::write);
    for (const store::Session& session : store.sessions())
        if (session.state == "running") return true;
    return false;
}

TEST(KilledRunner, LosesNoFinishedSampleAndLeavesNoProcess) {
    const assay::testing::TemporaryFolder folder;
    const auto database = folder / "results.db";
    const assay::testing::EnvironmentVariable pids("ASSAY_TEST_PIDS", (folder / "pids").string());
    const assay::testing::EnvironmentVariable tmp("TMPDIR", folder.path().string());
    std::mt19937 random(20260101);
    std::size_t finished_before = 0;
    std::string session;
    for (int round = 0; round < 50; ++round) {
        // Some moments are before its first sample; most are in or between some of the next ones.
        const std::size_t begun = pids_in(folder / "pids").size() + random() % 5;
        const pid_t runner = start_victim(database);
        eventually([&] { return pids_in(folder / "pids").size() >= begun; });
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 60'000));
        ::kill(runner, SIGKILL);
        ::waitpid(runner, nullptr, 0);
        if (!std::filesystem::exists(database)) continue;
        // A child caught between fork and exec holds the runner's locks until the kernel has buried
        // it too, a moment later.
        ASSERT_TRUE(eventually([&] { return !any_running(database); })) << "its runner is dead";
        const store::Store store = store::Store::open(database, store::Access::write);
        ASSERT_TRUE(store.check().ok) << store.check().problems.front();
        std::size_t finished = 0;
        for (const store::Session& row : store.sessions()) {
            if (session.empty()) session = row.id;
            EXPECT_EQ(row.id, session) << "every call goes on with the same session";
            for (const store::Sample& sample : store.samples(row.id)) {
                EXPECT_NE(sample.status, "running");
                if (sample.status != "ok") continue;
                ++finished;
                ASSERT_EQ(sample.metrics.size(), 1U) << "half a sample";
            }
        }
        ASSERT_GE(finished, finished_before);
        finished_before = finished;
    }
    EXPECT_GT(finished_before, 10U) << "the test must get somewhere to mean anything";
    for (const pid_t pid : pids_in(folder / "pids"))
        EXPECT_TRUE(eventually([&] { return is_gone(pid); })) << pid << " survived";
}

}  // namespace
}  // namespace assay::runner
