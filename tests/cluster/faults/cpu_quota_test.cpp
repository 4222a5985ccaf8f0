// Limits in a tree of plain files: what is written where, and that nothing else is touched. What
// the kernel makes of it: quota_process_test.cpp.
#include <optional>

#include "suite/cluster/faults/cpu_quota.hpp"
#include "tests/cluster/faults/cgroup_tree.hpp"

namespace assay::cluster {
namespace {

const std::string kV1 = "sys/fs/cgroup/cpu,cpuacct", kV2 = "sys/fs/cgroup";

std::string why_no_limit(CpuQuota& quota) {
    try {
        quota.limit(4711, 0.5);
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return "there was one";
}

TEST(CpuQuota, Version1WritesPeriodQuotaAndProcessAndRemovesTheGroup) {
    const CgroupTree tree;
    tree.be_v1("/jobs/mine");
    const std::string own = kV1 + "/jobs/mine", group = own + CgroupTree::group_for(4711);
    CpuQuota quota(tree.root());
    EXPECT_EQ(quota.why_not(), "");
    EXPECT_FALSE(tree.has(own + CgroupTree::group_for(0))) << "what was tried is gone";
    {
        CpuLimit limit = quota.limit(4711, 0.25);
        EXPECT_EQ(tree.read(group + "/cpu.cfs_period_us"), "4000");
        EXPECT_EQ(tree.read(group + "/cpu.cfs_quota_us"), "1000");
        EXPECT_EQ(tree.read(group + "/cgroup.procs"), "4711");
        EXPECT_FALSE(tree.has(own + "/cgroup.procs"));
        const CpuLimit moved = std::move(limit);
        EXPECT_TRUE(tree.has(group));
        CpuLimit other = quota.limit(4712, 0.01);
        EXPECT_EQ(tree.read(own + CgroupTree::group_for(4712) + "/cpu.cfs_period_us"), "100000");
        other.lift();
        EXPECT_EQ(tree.read(own + CgroupTree::group_for(4712) + "/cpu.cfs_quota_us"), "-1");
    }
    EXPECT_EQ(tree.read(own + "/cgroup.procs"), "4711") << "back where it was";
    EXPECT_FALSE(tree.has(group));
    EXPECT_FALSE(tree.has(own + CgroupTree::group_for(4712)));
}

TEST(CpuQuota, Version2GivesTheControllerWritesBothAndTakesItBack) {
    const CgroupTree tree;
    tree.be_v2("/user.slice");
    const std::string own = kV2 + "/user.slice", group = own + CgroupTree::group_for(4711);
    {
        CpuQuota quota(tree.root());
        EXPECT_FALSE(tree.has(own + "/cgroup.subtree_control")) << "before it is needed";
        CpuLimit limit = quota.limit(4711, 1.5);
        EXPECT_EQ(tree.read(own + "/cgroup.subtree_control"), "+cpu");
        EXPECT_EQ(tree.read(group + "/cpu.max"), "6000 4000");
        EXPECT_EQ(tree.read(group + "/cgroup.procs"), "4711");
        limit.lift();
        EXPECT_EQ(tree.read(group + "/cpu.max"), "max");
    }
    EXPECT_EQ(tree.read(own + "/cgroup.procs"), "4711");
    EXPECT_EQ(tree.read(own + "/cgroup.subtree_control"), "-cpu");
    EXPECT_FALSE(tree.has(group));
}

TEST(CpuQuota, Version2LeavesAControllerThatWasGivenOrIsInUse) {
    const CgroupTree tree;
    tree.be_v2("/");
    tree.write(kV2 + "/cgroup.subtree_control", "memory cpu pids\n");
    { CpuQuota(tree.root()).limit(4711, 0.5); }
    EXPECT_EQ(tree.read(kV2 + "/cgroup.subtree_control"), "memory cpu pids\n");
    tree.write(kV2 + "/cgroup.subtree_control", "cpuset\n");
    tree.make("proc/77");
    {
        CpuQuota quota(tree.root());
        quota.limit(4711, 0.5);
        tree.make(kV2 + "/assay-slow-77-78");  // another run begins to slow somebody
    }
    EXPECT_EQ(tree.read(kV2 + "/cgroup.subtree_control"), "+cpu");
}

// The kernel says "domain invalid" for a group below one that has processes.
TEST(CpuQuota, Version2MakesAThreadedGroupWhereNoOtherWorks) {
    const CgroupTree tree;
    tree.be_v2("/s");
    const std::string group = kV2 + "/s" + CgroupTree::group_for(4711);
    tree.make(group);
    tree.write(group + "/cgroup.type", "domain invalid\n");
    CpuQuota quota(tree.root());
    const CpuLimit limit = quota.limit(4711, 0.5);
    EXPECT_EQ(tree.read(group + "/cgroup.type"), "threaded");
}

TEST(CpuQuota, TakesVersion1WhereBothAreMounted) {
    const CgroupTree tree;
    tree.be_v1("/a");
    tree.write("proc/self/mountinfo",
               "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n" +
                   tree.read("proc/self/mountinfo"));
    tree.make("sys/fs/cgroup/unified");
    CpuQuota quota(tree.root());
    const CpuLimit limit = quota.limit(4711, 0.5);
    EXPECT_TRUE(tree.has(kV1 + "/a" + CgroupTree::group_for(4711)));
    EXPECT_TRUE(std::filesystem::is_empty(tree.root() / "sys/fs/cgroup/unified"));
}

// A container that sees its own part of the hierarchy as the whole.
TEST(CpuQuota, FindsItsGroupBelowTheRootOfTheMount) {
    const CgroupTree tree;
    tree.be_v1("/");
    tree.write("proc/self/mountinfo",
               "32 31 0:29 /docker/ab /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu\n");
    tree.make(kV1 + "/inner");
    for (const auto& [group, folder] :
         {std::pair<std::string, std::string>{"/docker/ab", ""}, {"/docker/ab/inner", "/inner"}}) {
        tree.write("proc/self/cgroup", "2:cpu:" + group + "\n");
        CpuQuota quota(tree.root());
        const CpuLimit limit = quota.limit(4711, 0.5);
        EXPECT_TRUE(tree.has(kV1 + folder + CgroupTree::group_for(4711))) << group;
    }
    for (const char* outside : {"/docker/abc", "/", "/../x"}) {
        tree.write("proc/self/cgroup", std::string("2:cpu:") + outside + "\n");
        EXPECT_NE(CpuQuota(tree.root()).why_not(), "") << outside;
    }
}

TEST(CpuQuota, SaysWhatIsMissing) {
    const CgroupTree empty;
    CpuQuota nothing(empty.root());
    EXPECT_NE(nothing.why_not().find("no control group"), std::string::npos);
    EXPECT_EQ(why_no_limit(nothing), nothing.why_not());

    const CgroupTree tree;
    tree.be_v1("/a");
    CpuQuota quota(tree.root());
    EXPECT_THROW(quota.limit(4711, 0), std::invalid_argument);
    const std::string own = (tree.root() / kV1 / "a").string();
    std::filesystem::permissions(tree.root(), std::filesystem::perms(0755));
    std::filesystem::permissions(own, std::filesystem::perms(0555));
    const bool root = ::geteuid() == 0;  // may write what nobody may
    if (root) {
        ASSERT_EQ(::seteuid(65534), 0);
    }
    const std::string why = quota.why_not(), no_limit = why_no_limit(quota);
    if (root) {
        ASSERT_EQ(::seteuid(0), 0);
    }
    std::filesystem::permissions(own, std::filesystem::perms(0755));
    EXPECT_EQ(why, own + CgroupTree::group_for(0) + " cannot be made: Permission denied");
    EXPECT_EQ(no_limit, own + CgroupTree::group_for(4711) + " cannot be made: Permission denied");
}

TEST(CpuQuota, PeriodAndQuotaAreWithinTheKernelsLimitsAndGiveTheShare) {
    const CgroupTree tree;
    tree.be_v1("/");
    CpuQuota quota(tree.root());
    for (double processors = 0.001; processors < 64; processors *= 1.37) {
        const CpuLimit limit = quota.limit(1, processors);
        const std::string group = kV1 + CgroupTree::group_for(1);
        const double period_us = std::stod(tree.read(group + "/cpu.cfs_period_us"));
        const double quota_us = std::stod(tree.read(group + "/cpu.cfs_quota_us"));
        EXPECT_GE(period_us, 4000);
        EXPECT_LE(period_us, 1e6);
        EXPECT_GE(quota_us, 1000);
        EXPECT_NEAR(quota_us / period_us / processors, 1, 0.001) << processors;
    }
}

TEST(CpuQuota, SweepsWhatTheDeadHaveLeftAndNothingElse) {
    const CgroupTree tree;
    tree.be_v1("/a");
    const std::string own = kV1 + "/a/";
    tree.make("proc/77");
    const std::string mine = "assay-slow-" + std::to_string(::getpid()) + "-5";
    for (const char* left : {"assay-slow-99-5", "assay-slow-100-0"}) tree.make(own + left);
    tree.write(own + "assay-slow-99-5/cpu.cfs_quota_us", "1000");
    for (const std::string& other :
         {std::string("assay-slow-77-5"), mine, std::string("assay-slow-99"),
          std::string("assay-slow-99-"), std::string("assay-slow--5"),
          std::string("assay-slow-99-5-6"), std::string("assay-slow-x-5"),
          std::string("assay-99-5"), std::string("their-assay-slow-99-5"),
          std::string("system.slice")})
        tree.make(own + other);
    tree.make(own + "assay-slow-99-6/in-use");  // rmdir fails, as with a process in a group
    const CpuQuota quota(tree.root());
    EXPECT_FALSE(tree.has(own + "assay-slow-99-5"));
    EXPECT_FALSE(tree.has(own + "assay-slow-100-0"));
    int left = 0;
    for (const auto& entry : std::filesystem::directory_iterator(tree.root() / own))
        left += entry.is_directory();
    EXPECT_EQ(left, 11);
}

}  // namespace
}  // namespace assay::cluster
