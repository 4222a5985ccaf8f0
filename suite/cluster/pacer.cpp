#include "suite/cluster/pacer.hpp"

#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <stdexcept>
#include <string>
#include <system_error>

namespace assay::cluster {
namespace {

/// Linux lets a thread's timers be late by 50 us to batch wake-ups; 1 ns is the least it accepts.
void ask_for_precise_timers() {
    thread_local const bool asked = [] {
        ::prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);  // refused: sleeps are only less precise
        return true;
    }();
    (void)asked;
}

// A wake-up takes some tens of microseconds; what takes longer is another process's doing.
constexpr double most_lateness_s = 150e-6, learning_rate = 0.2;

}  // namespace

double monotonic_s() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

void sleep_until(double deadline_s) {
    if (!std::isfinite(deadline_s)) {
        throw std::invalid_argument("sleep_until: the deadline is not a finite time");
    }
    if (deadline_s <= monotonic_s()) return;
    ask_for_precise_timers();
    timespec deadline{};
    deadline.tv_sec = static_cast<time_t>(deadline_s);
    deadline.tv_nsec =
        std::min(999'999'999L, static_cast<long>((deadline_s - double(deadline.tv_sec)) * 1e9));
    int error = 0;
    do {
        error = ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, nullptr);
    } while (error == EINTR);
    if (error != 0) throw std::system_error(error, std::generic_category(), "clock_nanosleep");
}

Pacer::Pacer(double speed) : speed_(speed) {
    if (!(speed > 0) || !std::isfinite(speed)) {
        throw std::invalid_argument("a pacer needs a positive speed, not " + std::to_string(speed));
    }
}

void Pacer::start(double start_s) {
    start_s_ = start_s;
    report_ = {};
}

void Pacer::hold_until(double offset_s) {
    const double deadline_s = start_s_ + offset_s / speed_;
    const double aimed_s = deadline_s - usual_lateness_s_;
    const bool sleeps = aimed_s > monotonic_s();
    sleep_until(aimed_s);
    const double woke_s = monotonic_s();
    if (sleeps) {
        const double late_s = std::clamp(woke_s - aimed_s, 0.0, most_lateness_s);
        usual_lateness_s_ += learning_rate * (late_s - usual_lateness_s_);
    }
    ++report_.operations;
    report_.late_s = std::max(0.0, woke_s - deadline_s) * speed_;
    report_.worst_s = std::max(report_.worst_s, report_.late_s);
}

}  // namespace assay::cluster
