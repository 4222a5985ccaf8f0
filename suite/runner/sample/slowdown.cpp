#include "suite/runner/sample/slowdown.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>

#include "suite/cluster/faults/slowing.hpp"
#include "suite/runner/plan.hpp"
#include "suite/runner/sample/leftover_processes.hpp"

namespace assay::runner {
namespace {

// The order within the scenario.

constexpr std::string_view slowdown_order = "slowdown=";
constexpr std::string_view between_orders = "; ";

}  // namespace

std::string slowed_scenario(const std::string& scenario, double factor) {
    if (!(factor >= 1 && factor <= largest_slowdown))
        throw std::invalid_argument(
            fmt::format("slowdown {}: a factor from 1 to {}", factor, largest_slowdown));
    if (slowdown_of(scenario).factor != 1)
        throw std::invalid_argument(fmt::format("'{}' is slowed already", scenario));
    if (factor == 1) return scenario;
    std::string order = fmt::format("{}", factor);
    if (const std::string usual = fmt::format("{:.2f}", factor); std::stod(usual) == factor)
        order = usual;
    return fmt::format("{}{}{}{}", scenario, scenario.empty() ? "" : between_orders, slowdown_order,
                       order);
}

Slowdown slowdown_of(std::string_view scenario) {
    const Slowdown honest{std::string(scenario), 1};
    const std::size_t at = scenario.rfind(slowdown_order);
    if (at == std::string_view::npos) return honest;
    std::string_view before = scenario.substr(0, at);
    if (!before.empty()) {
        if (!before.ends_with(between_orders)) return honest;
        before.remove_suffix(between_orders.size());
    }
    const std::string_view number = scenario.substr(at + slowdown_order.size());
    double factor = 0;
    const char* const end = number.data() + number.size();
    const auto [stop, error] = std::from_chars(number.data(), end, factor);
    if (error != std::errc{} || stop != end || !(factor > 1 && factor <= largest_slowdown))
        return honest;
    return {std::string(before), factor};
}

void slow_down(Plan& plan, double factor) {
    for (PlannedSample& sample : plan.samples)
        sample.spec.scenario = slowed_scenario(sample.spec.scenario, factor);
    plan.hash = plan_hash(plan.samples);
}

// The processes.

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

/// How often processes that left the group while it was stopped are looked for.
constexpr double left_group_every_s = 0.1;

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
void continue_those_that_left(pid_t below, pid_t group) {
    for (const pid_t pid : children_of(below)) {
        const Standing standing = standing_of(pid);
        if (standing.state == 'T' && standing.group != group) ::kill(pid, SIGCONT);
        continue_those_that_left(pid, group);
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
    continue_those_that_left(group_, group_);
}

void SlowedProcesses::drive(double share) {
    // A stop of a hundred microseconds drowns in the usual slack of fifty.
    ::prctl(PR_SET_TIMERSLACK, 1UL);
    cluster::DutyCycle cycle(share, seconds(Clock::now()), period_s(share));
    double look_again_at_s = seconds(Clock::now()) + left_group_every_s;
    std::unique_lock<std::mutex> lock(mutex_);
    while (!ended_.wait_until(lock, time_point(cycle.next_switch_s()), [&] { return over_; })) {
        ::kill(-group_, cycle.stopped() ? SIGCONT : SIGSTOP);
        cycle.switch_over(seconds(Clock::now()));
        if (cycle.stopped() || seconds(Clock::now()) < look_again_at_s) continue;
        continue_those_that_left(group_, group_);
        look_again_at_s = seconds(Clock::now()) + left_group_every_s;
    }
}

}  // namespace assay::runner
