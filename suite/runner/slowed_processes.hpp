// A process group that is stopped and continued all the time.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <mutex>
#include <thread>

namespace assay::runner {

/// While it lives, the group gets 1/factor of its time, by SIGSTOP and SIGCONT in a duty cycle of
/// at most ten milliseconds (cluster::DutyCycle); afterwards it runs again. What is awaited outside
/// the group (a disk, a timer, processes of other groups) does not become slower, and a group that
/// stops members of its own is continued too early: meant for work on the processor. Processes that
/// leave the group are not slowed; one that is stopped at that moment, or stops itself, is
/// continued within a tenth of a second. Stops that a crowded machine would have imposed anyway do
/// not add up with these.
class SlowedProcesses {
  public:
    /// `factor` above 1. The group's leader must not be reaped before the destructor has run.
    SlowedProcesses(pid_t group, double factor);
    ~SlowedProcesses();
    SlowedProcesses(const SlowedProcesses&) = delete;
    SlowedProcesses& operator=(const SlowedProcesses&) = delete;

  private:
    void drive(double share);

    pid_t group_;
    std::mutex mutex_;
    std::condition_variable ended_;
    bool over_ = false;
    std::thread driver_;
};

}  // namespace assay::runner
