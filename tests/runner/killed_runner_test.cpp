// SIGKILL of the runner at random moments: no finished sample is lost, the database opens, nothing
// that it started survives, and what it could not remove the next one does.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "suite/store/store.hpp"
#include "tests/base/processes.hpp"
#include "tests/base/temporary_folder.hpp"

namespace assay::runner {
namespace {

using assay::testing::descendants_of;
using assay::testing::eventually;
using assay::testing::is_gone;
using assay::testing::pids_in;
using namespace std::chrono_literals;

pid_t start_victim(const std::filesystem::path& database, std::vector<std::string> words) {
    words.insert(words.begin(), {"victim", "victim", database.string()});
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    const pid_t pid = ::fork();
    if (pid == 0) {
        ::execv("/proc/self/exe", argv.data());
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
        const pid_t runner = start_victim(database, {"200", "slow", "child"});
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

/// Folders for temporary files of samples, in TMPDIR.
long scratch_folders() {
    const std::filesystem::directory_iterator all(std::filesystem::temp_directory_path());
    return std::count_if(begin(all), end(all), [](const auto& entry) {
        return entry.path().filename().string().starts_with("assay-sample-");
    });
}

// A sample that leads workers, of which two die at any moment: with the runner goes whoever should
// have heard of those deaths.
TEST(KilledRunner, LeavesNoWorkerAndTheNextOneNoFolder) {
    const assay::testing::TemporaryFolder folder;
    const auto database = folder / "results.db";
    const assay::testing::EnvironmentVariable pids("ASSAY_TEST_PIDS", (folder / "pids").string());
    std::filesystem::create_directory(folder / "tmp");
    const assay::testing::EnvironmentVariable tmp("TMPDIR", (folder / "tmp").string());
    std::mt19937 random(20260102);
    for (int round = 0; round < 12; ++round) {
        const std::size_t begun = pids_in(folder / "pids").size() + 6 + random() % 20;
        const pid_t runner = start_victim(database, {"1", "workers"});
        ASSERT_TRUE(eventually([&] { return pids_in(folder / "pids").size() >= begun; }));
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 5'000));
        std::set<pid_t> family;
        EXPECT_TRUE(eventually([&] {
            family.merge(descendants_of(runner));
            return family.size() >= 3;
        })) << "a sample, its fork server, workers";
        ::kill(runner, SIGKILL);
        ::waitpid(runner, nullptr, 0);
        family.merge(pids_in(folder / "pids"));
        for (const pid_t pid : family)
            EXPECT_TRUE(eventually([&] { return is_gone(pid); })) << pid << " survived";
        ASSERT_TRUE(eventually([&] { return !any_running(database); })) << "its runner is dead";
        EXPECT_EQ(scratch_folders(), 1) << "of this one, which was killed, and of no other";
    }
    const assay::testing::EnvironmentVariable ends("ASSAY_TEST_ENDS", "1");
    int status = -1;
    ::waitpid(start_victim(database, {"1", "workers"}), &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(scratch_folders(), 0);
    EXPECT_FALSE(std::filesystem::exists(folder / "results.db.state"));
    const store::Store store = store::Store::open(database, store::Access::write);
    ASSERT_EQ(store.sessions().size(), 1U) << "every call goes on with the same session";
    EXPECT_EQ(store.sessions().front().state, "finished");
    std::multiset<std::string> ended;
    for (const store::Sample& sample : store.samples(store.sessions().front().id))
        ended.insert(sample.status);
    EXPECT_EQ(ended.count("ok"), 1U);
    EXPECT_EQ(ended.count("running"), 0U);
}

// What a running sample had recorded is there when its runner dies, and not in the next attempt.
TEST(KilledRunner, LeavesThePartsOfItsSampleAndTheNextAttemptHasNoneOfThem) {
    const assay::testing::TemporaryFolder folder;
    const auto database = folder / "results.db";
    const assay::testing::EnvironmentVariable tmp("TMPDIR", folder.path().string());
    std::set<std::string> attempts;
    for (int round = 0; round < 3; ++round) {
        const pid_t runner = start_victim(database, {"1", "grow_and_hang"});
        const auto running = [&]() -> store::Sample {
            const store::Store store = store::Store::open(database, store::Access::read);
            for (const store::Session& session : store.sessions())
                for (const store::Sample& sample : store.samples(session.id))
                    if (sample.status == "running") return store.sample(sample.id);
            return {};
        };
        ASSERT_TRUE(eventually([&] {
            try {
                return running().events.size() >= 20;
            } catch (const store::StoreError&) {
                return false;  // it is being made
            }
        }));
        const store::Sample seen = running();
        ::kill(runner, SIGKILL);
        ::waitpid(runner, nullptr, 0);
        ASSERT_TRUE(eventually([&] { return !any_running(database); })) << "its runner is dead";
        const store::Store store = store::Store::open(database, store::Access::write);
        ASSERT_TRUE(store.check().ok) << store.check().problems.front();
        ASSERT_EQ(store.sessions().size(), 1U) << "every call goes on with the same session";
        const auto samples = store.samples(store.sessions().front().id);
        ASSERT_EQ(samples.size(), 1U) << "earlier attempts gave way";
        EXPECT_TRUE(attempts.insert(samples.front().id).second) << "a new attempt";
        const store::Sample left = store.sample(samples.front().id);
        EXPECT_EQ(left.id, seen.id);
        EXPECT_EQ(left.status, "interrupted");
        ASSERT_GE(left.events.size(), seen.events.size()) << "what was there stays";
        ASSERT_LE(left.events.size(), 40U) << "of one attempt";
        for (std::size_t step = 0; step < left.events.size(); ++step)
            EXPECT_EQ(left.events[step].detail.at("step"), step);
        ASSERT_EQ(left.series_data.size(), 2U);
        // Of each step the point is recorded first: the kill may fall between the two.
        EXPECT_GE(left.series_data[0].t_s.size(), left.events.size());
        EXPECT_LE(left.series_data[0].t_s.size(), left.events.size() + 1);
        EXPECT_TRUE(store.newest_samples("dummy/behave").empty());
    }
}

}  // namespace
}  // namespace assay::runner
