// Which means slows a worker, and what is left of it afterwards. Plain files, no processes.
#include <signal.h>

#include <algorithm>
#include <limits>
#include <thread>
#include <vector>

#include "suite/cluster/faults/slowing.hpp"
#include "tests/cluster/faults/cgroup_tree.hpp"

namespace assay::cluster {
namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();
const std::string kOwn = "sys/fs/cgroup/cpu,cpuacct/a";
const Launcher::Launched kWorker{.pid = 4711, .host = "localhost"};

class SlowingTest : public ::testing::Test {
  protected:
    Slowing slowing(int threads = 1) {
        return Slowing([this](WorkerId, int number) { signals_.push_back(number); }, threads,
                       tree_.root());
    }
    std::string group() const { return kOwn + CgroupTree::group_for(4711); }
    CgroupTree tree_;
    std::vector<int> signals_;
};

TEST_F(SlowingTest, TakesTheQuotaWhereThereIsOne) {
    tree_.be_v1("/a");
    auto slowing = this->slowing();
    EXPECT_EQ(slowing.begin(0, kWorker, {.share = 0.25, .end_s = 7}, 1), SlowMeans::quota);
    EXPECT_EQ(tree_.read(group() + "/cpu.cfs_quota_us"), "1000");
    EXPECT_EQ(slowing.next_due_s(), 7);
    double held = 0;
    slowing.for_each_held([&](WorkerId, double share) { held = share; });
    EXPECT_DOUBLE_EQ(held, 0.75);
    slowing.hang(0);
    held = 0;
    slowing.for_each_held([&](WorkerId, double share) { held = share; });
    EXPECT_EQ(held, 0) << "a hang is meant to be noticed";
    slowing.resume(0, 3);
    slowing.drive(6.9);
    EXPECT_TRUE(tree_.has(group()));
    slowing.drive(7);
    EXPECT_FALSE(tree_.has(group()));
    EXPECT_EQ(slowing.next_due_s(), std::nullopt);
    EXPECT_TRUE(signals_.empty());
}

TEST_F(SlowingTest, FallsBackToTheDutyCycleWhereThereIsNone) {
    auto slowing = this->slowing();
    EXPECT_NE(slowing.why_no_quota(), "");
    EXPECT_EQ(slowing.begin(0, kWorker, {.share = 0.25, .end_s = kForever}, 1),
              SlowMeans::duty_cycle);
    slowing.drive(slowing.next_due_s().value());
    EXPECT_EQ(signals_, (std::vector{SIGSTOP}));
    slowing.end(0);
    EXPECT_EQ(signals_, (std::vector{SIGSTOP, SIGCONT}));
}

TEST_F(SlowingTest, AMeansThatIsAskedForIsTakenOrRefused) {
    {
        auto none = slowing();
        try {
            none.begin(0, kWorker, {.share = 0.25, .by = SlowMeans::quota}, 1);
            FAIL();
        } catch (const std::runtime_error& error) {
            EXPECT_NE(std::string(error.what()).find("use by=duty_cycle"), std::string::npos);
        }
        EXPECT_EQ(none.next_due_s(), std::nullopt);
    }
    tree_.be_v1("/a");
    auto slowing = this->slowing();
    EXPECT_EQ(slowing.begin(0, kWorker, {.share = 0.25, .by = SlowMeans::duty_cycle}, 1),
              SlowMeans::duty_cycle);
    EXPECT_FALSE(tree_.has(group()));
}

TEST_F(SlowingTest, WorkersElsewhereHaveADutyCycle) {
    tree_.be_v1("/a");
    const Launcher::Launched elsewhere{.pid = 4711, .host = "other"};
    EXPECT_EQ(slowing().begin(0, elsewhere, {.share = 0.25, .end_s = 7}, 1), SlowMeans::duty_cycle);
    EXPECT_THROW(slowing().begin(0, elsewhere, {.share = 0.25, .by = SlowMeans::quota}, 1),
                 std::runtime_error);
}

TEST_F(SlowingTest, SeveralThreadsUseAProcessorEachAndNoMoreThanThereAre) {
    tree_.be_v1("/a");
    const int processors = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    for (int threads : {1, 2, 100'000}) {
        auto slowing = this->slowing(threads);
        slowing.begin(0, kWorker, {.share = 0.5, .end_s = kForever}, 1);
        EXPECT_NEAR(std::stod(tree_.read(group() + "/cpu.cfs_quota_us")) /
                        std::stod(tree_.read(group() + "/cpu.cfs_period_us")),
                    0.5 * std::min(threads, processors), 1e-6)
            << threads;
    }
}

TEST_F(SlowingTest, ALaterOrderReplacesTheFirst) {
    tree_.be_v1("/a");
    auto slowing = this->slowing();
    slowing.begin(0, kWorker, {.share = 0.25, .end_s = kForever}, 1);
    slowing.begin(0, kWorker, {.share = 0.5, .end_s = kForever}, 2);
    EXPECT_EQ(tree_.read(group() + "/cpu.cfs_quota_us"), "2000");
    slowing.begin(0, kWorker, {.share = 0.5, .end_s = kForever, .by = SlowMeans::duty_cycle}, 3);
    EXPECT_FALSE(tree_.has(group()));
}

TEST_F(SlowingTest, TheKilledDieUnlimitedAndTheirGroupGoesWithThem) {
    tree_.be_v1("/a");
    auto slowing = this->slowing();
    slowing.begin(0, kWorker, {.share = 0.25, .end_s = 7}, 1);
    slowing.killed(0);
    EXPECT_EQ(tree_.read(group() + "/cpu.cfs_quota_us"), "-1");
    slowing.drive(8);
    EXPECT_TRUE(tree_.has(group())) << "while the process is in it";
    slowing.gone(0);
    EXPECT_FALSE(tree_.has(group()));
}

}  // namespace
}  // namespace assay::cluster
