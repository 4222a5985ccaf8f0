// Workers that get a share of their time, by each means: how much they get, that they live through
// it, that it ends, and what happens when they are struck otherwise meanwhile.
#include <cmath>
#include <optional>
#include <vector>

#include "suite/cluster/faults/cpu_quota.hpp"
#include "tests/cluster/processes/process_check.hpp"
#include "tests/cluster/processes/scripted_worker.hpp"

namespace assay::cluster {
namespace {

class SlowWorker : public testing::TestWithParam<SlowMeans> {
  protected:
    void SetUp() override {
        if (GetParam() != SlowMeans::quota) return;
        if (const auto why = CpuQuota().why_not(); !why.empty())
            GTEST_SKIP() << "no quota of processor time here: " << why;
    }
    void slow(WorkerId id, double share, std::optional<Seconds> duration = std::nullopt) {
        const auto used = supervisor_->slow(id, share, duration, GetParam());
        EXPECT_EQ(used, share < 1 ? std::optional(GetParam()) : std::nullopt);
    }
    Supervisor& start(SupervisorOptions options = {}) {
        supervisor_.emplace(make_fork_server(scripted_worker), options);
        return *supervisor_;
    }
    std::vector<WorkerId> spawn_ready(int count, const char* what) {
        std::vector<WorkerId> ids;
        for (int i = 0; i < count; ++i) {
            ids.push_back(supervisor_->spawn({{"do", what}}));
            EXPECT_TRUE(next_of<WorkerMessage>(*supervisor_));
        }
        return ids;
    }
    /// Drives the supervisor; nobody may die meanwhile.
    void pass(double seconds) {
        const double end_s = supervisor_->now_s() + seconds;
        while (supervisor_->now_s() < end_s) {
            const auto event = supervisor_->next(Seconds(end_s - supervisor_->now_s()));
            if (!event) continue;
            if (const auto* died = std::get_if<WorkerDied>(&*event)) {
                FAIL() << "worker " << died->worker << ": " << died->how;
            }
        }
    }
    /// Processor time each worker got while the supervisor was driven for `seconds`.
    std::vector<double> processor_s(const std::vector<WorkerId>& ids, double seconds) {
        std::vector<double> used;
        for (WorkerId id : ids) used.push_back(-cluster::processor_s(supervisor_->pid(id)));
        pass(seconds);
        for (std::size_t i = 0; i < ids.size(); ++i) {
            used[i] += cluster::processor_s(supervisor_->pid(ids[i]));
        }
        return used;
    }
    std::optional<Supervisor> supervisor_;
};

TEST_P(SlowWorker, GetsItsShareOfWhatAnotherGetsAndAllOfItAgainAfterwards) {
    auto& supervisor = start();
    const auto ids = spawn_ready(2, "spin");
    slow(ids[0], 0.1, Seconds(1.5));
    const auto slowed = processor_s(ids, 1.4);
    EXPECT_GT(slowed[0], 0);
    EXPECT_LT(slowed[0], 0.6 * slowed[1]) << "0.1 of it, if both had a processor to themselves";
    pass(0.2);
    const auto after = processor_s(ids, 1.0);
    EXPECT_GT(after[0], 0.4 * after[1]);
    EXPECT_EQ(supervisor.injected().slows, 1);
    EXPECT_EQ(supervisor.injected().hangs, 0);
}

TEST_P(SlowWorker, ShareOneEndsIt) {
    auto& supervisor = start();
    const auto ids = spawn_ready(1, "spin");
    slow(ids[0], 0.05);
    const auto slowed = processor_s(ids, 0.8);
    slow(ids[0], 1.0);
    slow(ids[0], 1.0);
    EXPECT_NE(process_state(supervisor.pid(ids[0])), 'T');
    const auto after = processor_s(ids, 0.8);
    EXPECT_GT(after[0], 1.3 * slowed[0]);
    EXPECT_EQ(supervisor.injected().slows, 1) << "to end it is no injection";
}

TEST_P(SlowWorker, SeveralAtOnceKeepBeatingWithDefaultTimeouts) {
    auto& supervisor = start();
    const auto ids = spawn_ready(4, "echo");
    for (WorkerId id : ids) slow(id, 0.1);
    pass(2 * SupervisorOptions{}.heartbeat_timeout.count());
    supervisor.send(ids, {{"are you", "there"}});
    for (std::size_t i = 0; i < ids.size(); ++i) {
        EXPECT_TRUE(next_of<WorkerMessage>(supervisor)->body.contains("echo"));
    }
    EXPECT_EQ(supervisor.alive().size(), ids.size());
    EXPECT_EQ(supervisor.injected().slows, 4);
}

// Its beats are further apart than the timeout: what counts is the time in which it could beat.
TEST_P(SlowWorker, TheTimeItIsHeldIsNoSilence) {
    auto& supervisor = start({.heartbeat_timeout = Seconds(0.1)});
    supervisor.spawn({{"do", "echo"}, {"interval", 0.2}});
    next_of<WorkerMessage>(supervisor);
    slow(0, 0.05, Seconds(0.8));
    pass(0.5);
    EXPECT_TRUE(supervisor.alive(0));
}

TEST_P(SlowWorker, AHangWinsAndTheSlowdownGoesOnAfterwards) {
    auto& supervisor = start({.heartbeat_timeout = Seconds(5)});
    const auto ids = spawn_ready(2, "spin");
    slow(ids[0], 0.1);
    pass(0.1);
    supervisor.hang(ids[0], Seconds(0.3));
    ASSERT_TRUE(comes_true([&] { return process_state(supervisor.pid(ids[0])) == 'T'; }));
    while (supervisor.injected().resumes == 0) {
        EXPECT_EQ(process_state(supervisor.pid(ids[0])), 'T');
        pass(0.007);
    }
    const auto after = processor_s(ids, 0.8);
    EXPECT_GT(after[0], 0);
    EXPECT_LT(after[0], 0.6 * after[1]);
}

TEST_P(SlowWorker, AHangOfASlowWorkerIsNoticed) {
    auto& supervisor = start({.heartbeat_timeout = Seconds(0.2)});
    const auto ids = spawn_ready(2, "echo");
    slow(ids[0], 0.2);
    pass(0.1);
    supervisor.hang(ids[0], std::nullopt);
    const auto died = next_of<WorkerDied>(supervisor);
    EXPECT_EQ(died->worker, ids[0]);
    EXPECT_EQ(died->how.rfind("heartbeat lost after 0.2", 0), 0u) << died->how;
    pass(0.1);
    EXPECT_TRUE(supervisor.alive(ids[1]));
}

TEST_P(SlowWorker, AKillMeetsItStoppedOrRunning) {
    auto& supervisor = start();
    const auto ids = spawn_ready(6, "spin");
    for (WorkerId id : ids) {
        slow(id, 0.05);
        pass(0.013);
        supervisor.kill(id);
        EXPECT_EQ(next_of<WorkerDied>(supervisor)->how, "signal 9");
        EXPECT_FALSE(supervisor.slow(id, 0.5, std::nullopt));  // dead: not counted
    }
    EXPECT_EQ(supervisor.injected().slows, 6);
}

TEST_P(SlowWorker, TheSupervisorsEndMeetsItStopped) {
    auto& supervisor = start();
    const auto ids = spawn_ready(3, "spin");
    for (WorkerId id : ids) slow(id, 0.02);
    std::vector<long> pids;
    for (WorkerId id : ids) pids.push_back(supervisor.pid(id));
    pass(0.1);
    supervisor_.reset();
    for (long pid : pids) EXPECT_EQ(process_state(pid), 0);
}

TEST_P(SlowWorker, RefusesSharesThatAreNone) {
    auto& supervisor = start();
    spawn_ready(1, "echo");
    for (double share : {0.0, -1.0, 0.001, std::nan("")}) {
        EXPECT_THROW(supervisor.slow(0, share, std::nullopt), std::invalid_argument) << share;
    }
    EXPECT_THROW(supervisor.slow(0, 0.5, Seconds(-1)), std::invalid_argument);
    EXPECT_THROW(supervisor.slow(7, 0.5, std::nullopt), std::out_of_range);
    EXPECT_EQ(supervisor.injected().slows, 0);
}

INSTANTIATE_TEST_SUITE_P(By, SlowWorker, testing::Values(SlowMeans::quota, SlowMeans::duty_cycle),
                         [](const auto& means) { return std::string(to_string(means.param)); });

}  // namespace
}  // namespace assay::cluster
