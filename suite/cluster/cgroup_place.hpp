// Where this process stands in the kernel's control groups for processor time. Reads, no writes.
#pragma once

#include <filesystem>

namespace assay::cluster {

enum class CgroupVersion { v1, v2 };

struct CgroupPlace {
    CgroupVersion version = CgroupVersion::v1;
    std::filesystem::path directory;  ///< of this process's own group, with `root` in front
};

/// From /proc/self/mountinfo (proc(5)) and /proc/self/cgroup (cgroups(7)): the group that accounts
/// for our processor time. The cpu controller is either in a hierarchy of version 1 or in that of
/// version 2. `root` stands in front of every path, also of mount points: a test's own tree. Throws
/// std::runtime_error, saying what is missing, where no such group can be seen.
CgroupPlace find_cpu_cgroup(const std::filesystem::path& root);

}  // namespace assay::cluster
