// A limit on the processor time of one process, held by the kernel: a control group of its own with
// a quota (cpu.cfs_quota_us in version 1 of control groups, cpu.max in version 2).
#pragma once

#include <filesystem>
#include <string>
#include <utility>

namespace assay::cluster {

enum class CgroupVersion { v1, v2 };

/// Where this process stands in the kernel's control groups for processor time.
struct CgroupPlace {
    CgroupVersion version = CgroupVersion::v1;
    std::filesystem::path directory;  ///< of this process's own group, with `root` in front
};

/// From /proc/self/mountinfo (proc(5)) and /proc/self/cgroup (cgroups(7)): the group that accounts
/// for our processor time. The cpu controller is either in a hierarchy of version 1 or in that of
/// version 2. `root` stands in front of every path, also of mount points: a test's own tree. Throws
/// std::runtime_error, saying what is missing, where no such group can be seen.
CgroupPlace find_cpu_cgroup(const std::filesystem::path& root);

/// Keeps a process, all its threads and the children it starts meanwhile, in a control group with a
/// quota. Its end takes them back to the group they came from and removes the group; of a process
/// that has died only the group is left to remove.
class CpuLimit {
  public:
    CpuLimit(CpuLimit&& other) noexcept
        : version_(other.version_), group_(std::exchange(other.group_, {})) {}
    CpuLimit& operator=(CpuLimit&&) = delete;
    ~CpuLimit();

    /// Ends the limit and keeps the group: what a dying process still has to do takes its time
    /// otherwise. A tenth of a millisecond, where moving takes ten. Never throws.
    void lift() noexcept;

  private:
    friend class CpuQuota;
    CpuLimit(CgroupVersion version, std::filesystem::path group)
        : version_(version), group_(std::move(group)) {}

    CgroupVersion version_;
    std::filesystem::path group_;  ///< empty: moved from
};

/// Makes groups below the group of this process, named assay-slow-OWNER-PROCESS after two process
/// ids, and touches no others, but for one thing: where version 2 has not given the cpu controller
/// to the children of our own group, it is given to them (cgroup.subtree_control) and taken back at
/// the end. Its own limits must be gone by then.
class CpuQuota {
  public:
    /// Removes what a process that no longer exists has left here. `root` stands in front of every
    /// path (tests). Never throws: where there are no control groups, why_not() says so.
    explicit CpuQuota(std::filesystem::path root = "/");
    CpuQuota(const CpuQuota&) = delete;
    CpuQuota& operator=(const CpuQuota&) = delete;
    ~CpuQuota();

    /// Empty: a limit can be set here (tried with a group without a process). Else what stands in
    /// the way.
    std::string why_not();

    /// The process gets the time of `processors` of them, for example 0.25, on average over a
    /// period of 4 ms or more (period_s). What it does not use in one period is not added to the
    /// next, so work of less than processors * period_s after a rest is not slowed at all. Moving a
    /// process takes the kernel 5 to 20 ms (measured, Linux 6.18), for which the caller waits. For
    /// a process that has ended meanwhile nothing happens. Throws std::invalid_argument for less
    /// than 0.001, std::runtime_error where the kernel refuses.
    CpuLimit limit(long pid, double processors);

    /// Seconds. As short as the kernel allows, a quota of a millisecond or more, so that bursts of
    /// work are slowed too; not below 4 ms, where a process got less than its share (measured at
    /// 250 ticks per second).
    static double period_s(double processors);

  private:
    void sweep() const;
    void give_controller();
    CpuLimit make_group(long pid, double processors);

    std::filesystem::path root_;
    CgroupPlace place_;
    std::string missing_;  ///< why there is no place; empty: there is one
    bool gave_controller_ = false;
};

}  // namespace assay::cluster
