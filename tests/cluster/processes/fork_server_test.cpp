// The fork server's own end, and where there can be none. (What holds for workers however they were
// started is in supervisor_test.cpp and orphan_test.cpp.)
#include <atomic>
#include <optional>
#include <thread>

#include "tests/cluster/processes/process_check.hpp"
#include "tests/cluster/processes/scripted_worker.hpp"

namespace assay::cluster {
namespace {

class ForkServer : public ::testing::Test {
  protected:
    void SetUp() override {
        supervisor_.emplace(make_fork_server(scripted_worker), SupervisorOptions{});
    }
    std::optional<Supervisor> supervisor_;
};

TEST_F(ForkServer, TheForkServersDeathIsEveryWorkersDeath) {
    const auto a = supervisor_->spawn({{"do", "echo"}}), b = supervisor_->spawn({{"do", "echo"}});
    for (int ready = 0; ready < 2; ++ready) ASSERT_TRUE(next_of<WorkerMessage>(*supervisor_));
    ::kill(pid_t(children_of(::getpid()).at(0)), SIGKILL);
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(next_of<WorkerDied>(*supervisor_)->how,
                  "the fork server is gone (was it killed?), and the worker with it");
    }
    EXPECT_FALSE(runs(supervisor_->pid(a)));
    EXPECT_FALSE(runs(supervisor_->pid(b)));
    const auto late = supervisor_->spawn({{"do", "echo"}});
    EXPECT_FALSE(supervisor_->alive(late));
    const auto died = next_of<WorkerDied>(*supervisor_);
    EXPECT_EQ(died->worker, late);
    EXPECT_EQ(died->how, "the fork server is gone (was it killed?): no worker can be started");
    supervisor_.reset();
    EXPECT_TRUE(children_of(::getpid()).empty());
}

// Also of those that it was asked for, but had not started.
TEST_F(ForkServer, AForkServerThatIsStoppedKeepsNobodyWaitingAndItsDeathIsTold) {
    const long server = children_of(::getpid()).at(0);
    ::kill(pid_t(server), SIGSTOP);
    ASSERT_TRUE(comes_true([&] { return process_state(server) == 'T'; }));
    for (int i = 0; i < 100; ++i) supervisor_->spawn({{"do", "echo"}});
    EXPECT_FALSE(supervisor_->next(Seconds(0.05)));
    EXPECT_EQ(supervisor_->alive().size(), 100u);
    EXPECT_EQ(supervisor_->pid(0), -1);
    ::kill(pid_t(server), SIGKILL);
    for (WorkerId id = 0; id < 100; ++id) {
        const auto died = next_of<WorkerDied>(*supervisor_);
        EXPECT_EQ(died->worker, id);
        EXPECT_EQ(died->how, "the fork server is gone (was it killed?): no worker can be started");
    }
    EXPECT_TRUE(supervisor_->alive().empty());
}

TEST_F(ForkServer, RefusesAForkServerInAProcessWithThreads) {
#ifndef __SANITIZE_THREAD__
    std::atomic<bool> over{false};
    std::thread thread([&] { over.wait(false); });
    EXPECT_THROW(make_fork_server(scripted_worker), std::logic_error);
    over = true;
    over.notify_one();
    thread.join();
    // One that has ended is listed for a moment longer, which is no reason to refuse.
    std::thread ends_soon([] { std::this_thread::sleep_for(std::chrono::milliseconds(5)); });
    EXPECT_NO_THROW(make_fork_server(scripted_worker));
    ends_soon.join();
#endif
}

}  // namespace
}  // namespace assay::cluster
