// Real processes in real control groups: what the kernel makes of a limit, and that no group is
// left behind. Skipped where none can be made.
#include <algorithm>
#include <filesystem>
#include <optional>

#include "suite/cluster/faults/cpu_quota.hpp"
#include "suite/cluster/pacer.hpp"
#include "tests/cluster/processes/process_check.hpp"
#include "tests/cluster/processes/scripted_worker.hpp"

namespace assay::cluster {
namespace {

/// A child process that spins, or sleeps, until it is killed.
class Child {
  public:
    explicit Child(const std::function<void()>& what) : pid_(::fork()) {
        if (pid_ != 0) return;
        what();
        ::_exit(0);
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child() { kill(); }
    pid_t pid() const { return pid_; }
    void kill() {
        if (pid_ <= 0) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
        pid_ = -1;
    }

  private:
    pid_t pid_;
};

void spin() {
    for (volatile bool on = true; on;) continue;
}

void sleep_on() {
    while (true) ::pause();
}

class QuotaProcess : public testing::Test {
  protected:
    void SetUp() override {
        if (const auto why = CpuQuota().why_not(); !why.empty())
            GTEST_SKIP() << "no quota of processor time here: " << why;
        own_ = find_cpu_cgroup("/").directory;
    }
    std::filesystem::path group(long owner, long pid) const {
        return own_ / ("assay-slow-" + std::to_string(owner) + "-" + std::to_string(pid));
    }
    /// Whether the kernel counts the process in that group.
    static bool holds(const std::filesystem::path& group, long pid) {
        std::ifstream members(group / "cgroup.procs");
        for (long member; members >> member;)
            if (member == pid) return true;
        return false;
    }
    std::filesystem::path own_;
};

TEST_F(QuotaProcess, GetsItsShareOfWhatAnotherGetsInTheSameTime) {
    const Child slowed(spin), free(spin);
    CpuQuota quota;
    for (double share : {0.1, 0.5}) {
        const CpuLimit limit = quota.limit(slowed.pid(), share);
        ASSERT_TRUE(holds(group(::getpid(), slowed.pid()), slowed.pid()));
        const double from_s = monotonic_s();
        const double before[] = {processor_s(slowed.pid()), processor_s(free.pid())};
        std::this_thread::sleep_for(std::chrono::milliseconds(1000));
        const double got = processor_s(slowed.pid()) - before[0];
        const double free_got = processor_s(free.pid()) - before[1];
        const double passed_s = monotonic_s() - from_s;
        // Never more than the quota, but for one period at each end; less where others compete.
        EXPECT_LT(got, 1.1 * share * passed_s + 2 * CpuQuota::period_s(share));
        EXPECT_GT(got, 0.4 * share * std::min(passed_s, 2 * free_got));
        // Where others compete, the free one may get as little.
        if (share < 0.2 && free_got > 0.5 * passed_s) {
            EXPECT_LT(got, 0.5 * free_got);
        }
        RecordProperty("ratio_at_" + std::to_string(share), std::to_string(got / free_got));
    }
    EXPECT_FALSE(std::filesystem::exists(group(::getpid(), slowed.pid())));
    EXPECT_TRUE(holds(own_, slowed.pid()));
}

TEST_F(QuotaProcess, OfADeadProcessOnlyTheGroupIsLeftAndGoes) {
    CpuQuota quota;
    Child child(sleep_on);
    const long pid = child.pid();
    {
        const CpuLimit limit = quota.limit(pid, 0.5);
        child.kill();
        EXPECT_TRUE(std::filesystem::exists(group(::getpid(), pid)));
    }
    EXPECT_FALSE(std::filesystem::exists(group(::getpid(), pid)));
    { const CpuLimit limit = quota.limit(pid, 0.5); }  // there is no such process any more
    EXPECT_FALSE(std::filesystem::exists(group(::getpid(), pid)));
}

TEST_F(QuotaProcess, TheNextStartRemovesWhatACrashLeaves) {
    const Child worker(sleep_on);
    const long worker_pid = worker.pid();
    std::optional<Child> owner;
    owner.emplace([worker_pid] {
        CpuQuota quota;
        const CpuLimit limit = quota.limit(worker_pid, 0.5);
        sleep_on();
    });
    const auto left = group(owner->pid(), worker_pid);
    ASSERT_TRUE(comes_true([&] { return holds(left, worker_pid); }));
    { const CpuQuota meanwhile; }
    EXPECT_TRUE(std::filesystem::exists(left)) << "its owner lives";
    owner->kill();
    { const CpuQuota next; }
    EXPECT_TRUE(holds(left, worker_pid)) << "not while somebody is in it";
    std::ofstream(own_ / "cgroup.procs") << worker_pid;
    { const CpuQuota next; }
    EXPECT_FALSE(std::filesystem::exists(left));
}

TEST_F(QuotaProcess, ASupervisorLeavesNoGroupBehindHoweverItsWorkersEnd) {
    std::optional<Supervisor> supervisor;
    supervisor.emplace(make_fork_server(scripted_worker), SupervisorOptions{});
    std::vector<std::filesystem::path> groups;
    for (WorkerId id = 0; id < 3; ++id) {
        ASSERT_EQ(supervisor->spawn({{"do", "spin"}}), id);
        next_of<WorkerMessage>(*supervisor);
        EXPECT_EQ(supervisor->slow(id, 0.05, id == 0 ? std::optional(Seconds(0.1)) : std::nullopt),
                  SlowMeans::quota);
        groups.push_back(group(::getpid(), supervisor->pid(id)));
        EXPECT_TRUE(holds(groups.back(), supervisor->pid(id)));
    }
    supervisor->kill(1);
    EXPECT_EQ(next_of<WorkerDied>(*supervisor)->worker, 1);
    EXPECT_FALSE(std::filesystem::exists(groups[1]));
    const double end_s = supervisor->now_s() + 0.2;
    while (supervisor->now_s() < end_s) supervisor->next(Seconds(0.05));
    EXPECT_FALSE(std::filesystem::exists(groups[0]));
    EXPECT_TRUE(holds(own_, supervisor->pid(0)));
    EXPECT_TRUE(std::filesystem::exists(groups[2]));
    supervisor.reset();
    EXPECT_FALSE(std::filesystem::exists(groups[2]));
}

}  // namespace
}  // namespace assay::cluster
