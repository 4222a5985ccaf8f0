#include "suite/measure/hardware/worker_room.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "suite/base/error.hpp"
#include "tests/measure/machine_folder.hpp"

namespace assay::measure {
namespace {

using ::testing::HasSubstr;

/// Why there is no room for so many; empty: there is.
std::string refused(std::int64_t workers, const std::filesystem::path& root) {
    try {
        require_room_for_workers(workers, 0, root);
        return "";
    } catch (const NotSupportedHere& error) {
        return error.what();
    }
}

/// Of this process, until the end of the scope.
class DescriptorLimit {
  public:
    explicit DescriptorLimit(rlim_t most) {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        const rlimit now{most, before_.rlim_max};
        ::setrlimit(RLIMIT_NOFILE, &now);
    }
    ~DescriptorLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }

  private:
    rlimit before_{};
};

TEST(WorkerRoom, OfThisMachine) {
    EXPECT_EQ(refused(2, "/"), "");
    EXPECT_THAT(refused(100'000'000, "/"), HasSubstr("100000000 worker processes are more than"));
}

TEST(WorkerRoom, WhatTellsNothingRefusesNothing) {
    const testing::MachineFolder machine;
    EXPECT_EQ(refused(2, machine.path()), "");
}

TEST(WorkerRoom, TheTightestLimitIsNamed) {
    const DescriptorLimit wide(4096);
    const testing::MachineFolder machine;
    machine.put("proc/meminfo", "MemTotal: 999999999 kB\nMemAvailable: 2400000 kB\n");
    EXPECT_EQ(refused(102, machine.path()), "");
    EXPECT_EQ(
        refused(103, machine.path()),
        "103 worker processes are more than this machine has room for: they need at least 24 "
        "MB of memory each, and MemAvailable is 2.46 GB, enough for 102 at most; start fewer");
    machine.put("proc/sys/kernel/pid_max", "190\n");
    EXPECT_EQ(refused(95, machine.path()), "");
    EXPECT_THAT(refused(96, machine.path()),
                HasSubstr("2 processes or threads each, and kernel.pid_max is 190, enough for 95"));
    const DescriptorLimit narrow(64);
    EXPECT_EQ(refused(32, machine.path()), "");
    EXPECT_THAT(refused(33, machine.path()),
                HasSubstr("2 file descriptors each, and `ulimit -n` grants 64, enough for 32"));
}

TEST(WorkerRoom, ThoseThatJoinCount) {
    const testing::MachineFolder machine;
    machine.put("proc/sys/kernel/pid_max", "20\n");
    EXPECT_NO_THROW(require_room_for_workers(7, 3, machine.path()));
    try {
        require_room_for_workers(8, 3, machine.path());
        FAIL() << "eleven";
    } catch (const NotSupportedHere& error) {
        EXPECT_THAT(error.what(), HasSubstr("8 worker processes, and 3 that join, are more than"));
    }
}

TEST(WorkerRoom, ControlGroupsOfBothVersions) {
    const testing::MachineFolder machine;
    machine.put("proc/self/cgroup", "0::/box/inner\n");
    machine.put("sys/fs/cgroup/box/inner/pids.max", "max\n");
    machine.put("sys/fs/cgroup/box/pids.max", "40\n");
    machine.put("sys/fs/cgroup/box/memory.max", "100000000000\n");
    EXPECT_EQ(refused(20, machine.path()), "");
    EXPECT_THAT(refused(21, machine.path()), HasSubstr("sys/fs/cgroup/box/pids.max grants 40"));
    machine.put("sys/fs/cgroup/box/memory.max", "240000000\n");
    EXPECT_THAT(refused(11, machine.path()),
                HasSubstr("sys/fs/cgroup/box/memory.max grants 240 MB, enough for 10"));

    machine.put("proc/self/cgroup", "5:memory:/job\n3:pids:/\n");
    EXPECT_EQ(refused(21, machine.path()), "");
    machine.put("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "48000000\n");
    EXPECT_THAT(refused(3, machine.path()),
                HasSubstr("memory.limit_in_bytes grants 48 MB, enough for 2"));
}

}  // namespace
}  // namespace assay::measure
