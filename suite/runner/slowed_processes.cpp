#include "suite/runner/slowed_processes.hpp"

#include <signal.h>
#include <sys/prctl.h>

#include <chrono>

#include "suite/cluster/duty_cycle.hpp"

namespace assay::runner {
namespace {

using Clock = std::chrono::steady_clock;

double seconds(Clock::time_point at) {
    return std::chrono::duration<double>(at.time_since_epoch()).count();
}
Clock::time_point time_point(double at_s) {
    return Clock::time_point(
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(at_s)));
}

}  // namespace

SlowedProcesses::SlowedProcesses(pid_t group, double factor)
    : group_(group), driver_([this, factor] { drive(1 / factor); }) {}

SlowedProcesses::~SlowedProcesses() {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        over_ = true;
    }
    ended_.notify_one();  // a sample that is over is not kept waiting for its next stop
    driver_.join();
    ::kill(-group_, SIGCONT);
}

void SlowedProcesses::drive(double share) {
    // A stop of a hundred microseconds drowns in the usual slack of fifty.
    ::prctl(PR_SET_TIMERSLACK, 1UL);
    cluster::DutyCycle cycle(share, seconds(Clock::now()));
    std::unique_lock<std::mutex> lock(mutex_);
    while (!ended_.wait_until(lock, time_point(cycle.next_switch_s()), [&] { return over_; })) {
        ::kill(-group_, cycle.stopped() ? SIGCONT : SIGSTOP);
        cycle.switch_over(seconds(Clock::now()));
    }
}

}  // namespace assay::runner
