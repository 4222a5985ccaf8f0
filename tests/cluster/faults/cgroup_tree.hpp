// Control groups as plain files: what a process would find under /proc and /sys, in a folder.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/base/temporary_folder.hpp"

namespace assay::cluster {

class CgroupTree {
  public:
    CgroupTree() { make("proc/self"); }

    /// A hierarchy of version 1 with the cpu controller, as /sys/fs/cgroup/cpu,cpuacct.
    void be_v1(const std::string& group) const {
        write("proc/self/mountinfo",
              "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
              "33 31 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
              "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 master:1 - cgroup "
              "cgroup rw,cpu,cpuacct\n");
        write("proc/self/cgroup", "9:cpuset:/elsewhere\n2:cpu,cpuacct:" + group + "\n0::/\n");
        make("sys/fs/cgroup/cpu,cpuacct" + group);
    }
    void be_v2(const std::string& group) const {
        write("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
        write("proc/self/cgroup", "0::" + group + "\n");
        make("sys/fs/cgroup" + group);
    }

    const std::filesystem::path& root() const { return folder_.path(); }
    void make(const std::string& folder) const {
        std::filesystem::create_directories(root() / folder);
    }
    void write(const std::string& file, const std::string& text) const {
        std::ofstream(root() / file) << text;
    }
    std::string read(const std::string& file) const {
        std::ifstream stream(root() / file);
        return {std::istreambuf_iterator<char>(stream), {}};
    }
    bool has(const std::string& path) const { return std::filesystem::exists(root() / path); }

    /// The folder of the group that this process makes for `pid`.
    static std::string group_for(long pid) {
        return "/assay-slow-" + std::to_string(::getpid()) + "-" + std::to_string(pid);
    }

  private:
    testing::TemporaryFolder folder_;
};

}  // namespace assay::cluster
