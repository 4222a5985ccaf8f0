// Every process that a sample starts, however it detaches itself, ends with the sample.
#pragma once

#include <sys/types.h>

#include <set>

namespace assay::runner {

/// Of all threads of a process; empty where there is none.
std::set<pid_t> children_of(pid_t pid);

/// Makes this process the one that orphans among its descendants fall to, while it lives, and
/// remembers the children that are not the sample's.
class LeftoverProcesses {
  public:
    LeftoverProcesses();
    ~LeftoverProcesses();
    LeftoverProcesses(const LeftoverProcesses&) = delete;
    LeftoverProcesses& operator=(const LeftoverProcesses&) = delete;

    /// Kills and reaps all children that came since construction, and theirs in turn, until none is
    /// left; gives up after two seconds (a process stuck in the kernel). Returns how many there
    /// were.
    int reap();

  private:
    std::set<pid_t> others_;
    bool was_subreaper_ = false;
};

}  // namespace assay::runner
