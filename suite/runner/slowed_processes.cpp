#include "suite/runner/slowed_processes.hpp"

#include <signal.h>
#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "suite/cluster/duty_cycle.hpp"
#include "suite/runner/descendants.hpp"

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

/// Of a small slowdown a stop lasts so long, so that even a repetition of ten milliseconds has some
/// in it; shorter ones would be lost in what a signal costs.
constexpr double short_stop_s = 200e-6;
/// Stops of a larger one are long anyway, and on a crowded machine longer ones tell more.
constexpr double small_share = 0.2;

double period_s(double share) {
    const double usual = cluster::DutyCycle::kPeriod_s;
    return 1 - share < small_share ? std::min(usual, short_stop_s / (1 - share)) : usual;
}

/// How often strays are looked for.
constexpr double strays_every_s = 0.1;

struct Standing {
    char state = '?';
    pid_t group = 0;
};

/// From /proc/PID/stat: "PID (name) STATE PARENT GROUP …", where the name may hold anything.
Standing standing_of(pid_t pid) {
    std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    Standing found;
    const std::size_t name_ends = text.rfind(')');
    if (name_ends == std::string::npos) return found;
    std::istringstream rest(text.substr(name_ends + 1));
    pid_t parent = 0;
    rest >> found.state >> parent >> found.group;
    return found;
}

/// A process that is stopped with the group and moved out of it by its parent, before the parent
/// stops too, would wait for ever: what goes on later reaches the group alone.
void release_strays(pid_t below, pid_t group) {
    for (const pid_t pid : children_of(below)) {
        const Standing standing = standing_of(pid);
        if (standing.state == 'T' && standing.group != group) ::kill(pid, SIGCONT);
        release_strays(pid, group);
    }
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
    release_strays(group_, group_);
}

void SlowedProcesses::drive(double share) {
    // A stop of a hundred microseconds drowns in the usual slack of fifty.
    ::prctl(PR_SET_TIMERSLACK, 1UL);
    cluster::DutyCycle cycle(share, seconds(Clock::now()), period_s(share));
    double strays_at_s = seconds(Clock::now()) + strays_every_s;
    std::unique_lock<std::mutex> lock(mutex_);
    while (!ended_.wait_until(lock, time_point(cycle.next_switch_s()), [&] { return over_; })) {
        ::kill(-group_, cycle.stopped() ? SIGCONT : SIGSTOP);
        cycle.switch_over(seconds(Clock::now()));
        if (cycle.stopped() || seconds(Clock::now()) < strays_at_s) continue;
        release_strays(group_, group_);
        strays_at_s = seconds(Clock::now()) + strays_every_s;
    }
}

}  // namespace assay::runner
