#include "suite/cluster/duty_cycle.hpp"

#include <algorithm>

namespace assay::cluster {
namespace {

/// No more than this much lateness is made up for: after a long absence of the driver the worker
/// would otherwise stand still, or run free, for as long.
constexpr double kMostAhead_s = 4 * DutyCycle::kPeriod_s;

}  // namespace

DutyCycle::DutyCycle(double share, double now_s) : share_(share) { restart(now_s); }

void DutyCycle::restart(double now_s) {
    stopped_ = false;
    since_s_ = now_s;
    ahead_s_ = 0;
    next_switch_s_ = now_s + share_ * kPeriod_s;
}

void DutyCycle::switch_over(double now_s) {
    const double passed_s = now_s - since_s_;
    ahead_s_ += stopped_ ? -share_ * passed_s : (1 - share_) * passed_s;
    ahead_s_ = std::clamp(ahead_s_, -kMostAhead_s, kMostAhead_s);
    since_s_ = now_s;
    stopped_ = !stopped_;
    // A stop lasts until the worker is level again; a run is of the usual length, and longer when
    // the stop before it was too long.
    next_switch_s_ =
        now_s + (stopped_ ? std::max(0.0, ahead_s_) / share_
                          : share_ * kPeriod_s + std::max(0.0, -ahead_s_) / (1 - share_));
}

}  // namespace assay::cluster
