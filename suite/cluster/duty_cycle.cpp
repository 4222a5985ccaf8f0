#include "suite/cluster/duty_cycle.hpp"

#include <algorithm>

namespace assay::cluster {
namespace {

/// No more periods of lateness than this are made up for: after a long absence of the driver the
/// worker would otherwise stand still, or run free, for as long.
constexpr double most_ahead = 4;

}  // namespace

DutyCycle::DutyCycle(double share, double now_s, double period_s)
    : share_(share), period_s_(period_s) {
    restart(now_s);
}

void DutyCycle::restart(double now_s) {
    stopped_ = false;
    since_s_ = now_s;
    ahead_s_ = 0;
    next_switch_s_ = now_s + share_ * period_s_;
}

void DutyCycle::switch_over(double now_s) {
    const double passed_s = now_s - since_s_;
    ahead_s_ += stopped_ ? -share_ * passed_s : (1 - share_) * passed_s;
    ahead_s_ = std::clamp(ahead_s_, -most_ahead * period_s_, most_ahead * period_s_);
    since_s_ = now_s;
    stopped_ = !stopped_;
    // A stop lasts until the worker is level again; a run is of the usual length, and longer when
    // the stop before it was too long.
    next_switch_s_ =
        now_s + (stopped_ ? std::max(0.0, ahead_s_) / share_
                          : share_ * period_s_ + std::max(0.0, -ahead_s_) / (1 - share_));
}

}  // namespace assay::cluster
