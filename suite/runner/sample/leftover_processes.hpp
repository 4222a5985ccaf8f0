// Every process that a sample starts, however it detaches itself, ends with the sample.
#pragma once

#include <sys/types.h>

#include <set>

namespace assay::runner {

/// Of all threads of a process; empty where there is none.
std::set<pid_t> children_of(pid_t pid);

/// Makes this process the one that orphans among its descendants fall to, while any such object
/// lives, and remembers the children that are not the sample's. Of one thread at a time.
class LeftoverProcesses {
  public:
    LeftoverProcesses();
    ~LeftoverProcesses();
    LeftoverProcesses(const LeftoverProcesses&) = delete;
    LeftoverProcesses& operator=(const LeftoverProcesses&) = delete;

    /// The sample's own process, leader of a group: until reap(), nobody else's takes that for its.
    void belongs(pid_t leader);

    /// Kills and reaps all children that came since construction, and theirs in turn, until none is
    /// left; gives up after two seconds (a process stuck in the kernel). Returns how many there
    /// were. Groups of samples that run beside this one are spared.
    int reap();

  private:
    std::set<pid_t> others_;
    pid_t leader_ = 0;
};

}  // namespace assay::runner
