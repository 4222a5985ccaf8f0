// A sample that is made slower on purpose, to find out whether a gate would notice: the order in
// its scenario, and what carries it out. The order stands in the scenario and nowhere else, so that
// the series of such a sample is another than that of honest ones: reports, claims and comparisons
// never take one for the other.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "suite/runner/plan.hpp"

namespace assay::runner {

/// The largest factor: beyond it a sample runs for less than a tenth of its time.
inline constexpr double largest_slowdown = 10;

/// "slowdown=1.10", after what `scenario` says already; a factor of 1 changes nothing.
/// std::invalid_argument: a factor that is not from 1 to largest_slowdown, a scenario that is
/// slowed already.
std::string slowed_scenario(const std::string& scenario, double factor);

struct Slowdown {
    std::string scenario;  ///< what the experiment is told: without the order
    double factor = 1;     ///< how many times longer the sample takes; 1: not slowed
};
/// Takes slowed_scenario() apart again. A scenario without an order comes back as it is.
Slowdown slowdown_of(std::string_view scenario);

/// All samples of the plan become `factor` times slower; no other session is resumed by it.
void slow_down(Plan& plan, double factor);

/// A process group that is stopped and continued all the time. While it lives, the group gets
/// 1/factor of its time, by SIGSTOP and SIGCONT in a duty cycle of at most ten milliseconds
/// (cluster::DutyCycle); afterwards it runs again. What is awaited outside the group (a disk, a
/// timer, processes of other groups) does not become slower, and a group that stops members of its
/// own is continued too early: meant for work on the processor. Processes that leave the group are
/// not slowed; one that is stopped at that moment, or stops itself, is continued within a tenth of
/// a second. Stops that a crowded machine would have imposed anyway do not add up with these.
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
