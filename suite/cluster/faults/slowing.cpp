#include "suite/cluster/faults/slowing.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <thread>

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

SlowMeans Slowing::begin(WorkerId id, const Launcher::Launched& launched, const Order& order,
                         double now_s) {
    end(id);
    const auto [slowed, fresh] = slowed_.try_emplace(
        id, Slowed{choose(launched, order, now_s), order.share, order.end_s, order.hanging});
    return std::holds_alternative<CpuLimit>(slowed->second.by) ? SlowMeans::quota
                                                               : SlowMeans::duty_cycle;
}

std::variant<DutyCycle, CpuLimit> Slowing::choose(const Launcher::Launched& launched,
                                                  const Order& order, double now_s) {
    if (order.by == SlowMeans::duty_cycle) return DutyCycle(order.share, now_s);
    try {
        if (launched.host != "localhost")
            throw std::runtime_error(fmt::format("the worker is on {}", launched.host));
        const int processors = static_cast<int>(std::thread::hardware_concurrency());
        const int used = processors > 0 ? std::min(compute_threads_, processors) : compute_threads_;
        return quota_.limit(launched.pid, order.share * used);
    } catch (const std::runtime_error& error) {
        if (!order.by) return DutyCycle(order.share, now_s);
        throw std::runtime_error(
            fmt::format("slow by quota: {}; leave 'by' out, or use by=duty_cycle", error.what()));
    }
}

void Slowing::end(WorkerId id) {
    const auto found = slowed_.find(id);
    if (found == slowed_.end()) return;
    let_run(id, found->second);
    slowed_.erase(found);
}

/// A quota ends with its limit. A hang keeps its worker stopped.
void Slowing::let_run(WorkerId id, const Slowed& slowed) {
    const auto* cycle = std::get_if<DutyCycle>(&slowed.by);
    if (cycle != nullptr && cycle->stopped() && !slowed.hanging) signal_(id, SIGCONT);
}

void Slowing::hang(WorkerId id) {
    if (const auto found = slowed_.find(id); found != slowed_.end()) found->second.hanging = true;
}

void Slowing::resume(WorkerId id, double now_s) {
    const auto found = slowed_.find(id);
    if (found == slowed_.end()) return;
    found->second.hanging = false;
    if (auto* cycle = std::get_if<DutyCycle>(&found->second.by)) cycle->restart(now_s);
}

void Slowing::killed(WorkerId id) {
    const auto found = slowed_.find(id);
    if (found == slowed_.end()) return;
    if (auto* limit = std::get_if<CpuLimit>(&found->second.by)) {
        limit->lift();  // the group goes once it is empty
        found->second.end_s = std::numeric_limits<double>::infinity();
    } else {
        slowed_.erase(found);
    }
}

void Slowing::gone(WorkerId id) { slowed_.erase(id); }

std::optional<double> Slowing::next_due_s() const {
    std::optional<double> due;
    for (const auto& [id, slowed] : slowed_) {
        if (slowed.hanging) continue;  // goes on when the hang ends
        double at_s = slowed.end_s;
        if (const auto* cycle = std::get_if<DutyCycle>(&slowed.by))
            at_s = std::min(at_s, cycle->next_switch_s());
        due = due ? std::min(*due, at_s) : at_s;
    }
    return due;
}

void Slowing::drive(double now_s) {
    for (auto it = slowed_.begin(); it != slowed_.end();) {
        auto& [id, slowed] = *it;
        if (slowed.end_s <= now_s) {
            let_run(id, slowed);
            it = slowed_.erase(it);
            continue;
        }
        auto* cycle = std::get_if<DutyCycle>(&slowed.by);
        if (cycle != nullptr && !slowed.hanging && cycle->next_switch_s() <= now_s) {
            cycle->switch_over(now_s);
            signal_(id, cycle->stopped() ? SIGSTOP : SIGCONT);
        }
        ++it;
    }
}

void Slowing::for_each_held(const std::function<void(WorkerId, double)>& held) const {
    for (const auto& [id, slowed] : slowed_) {
        if (slowed.hanging) continue;
        if (const auto* cycle = std::get_if<DutyCycle>(&slowed.by)) {
            if (cycle->stopped()) held(id, 1);
        } else {
            held(id, 1 - slowed.share);
        }
    }
}

}  // namespace assay::cluster
