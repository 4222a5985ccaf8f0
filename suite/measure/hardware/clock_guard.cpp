#include "suite/measure/hardware/clock_guard.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace assay::measure {
namespace {

/// What one device showed in one sample.
struct Seen {
    double clock_sum_hz = 0;
    long clocks = 0;            ///< readings of the clock while it was busy
    long busy = 0, slowed = 0;  ///< readings
    std::vector<std::string> reasons;
    double elapsed_s = 0, busy_s = 0, steal_s = 0, quota_s = 0;
    long thermal_events = 0;

    void name(Throttle reason) {
        const std::string text(to_string(reason));
        if (std::find(reasons.begin(), reasons.end(), text) == reasons.end())
            reasons.push_back(text);
    }
};

bool has(const DeviceReading& reading, Throttle reason) {
    return std::find(reading.throttles.begin(), reading.throttles.end(), reason) !=
           reading.throttles.end();
}

bool is_busy(const DeviceReading& reading, const GuardLimits& limits) {
    if (has(reading, Throttle::gpu_idle)) return false;
    const double enough = reading.device == "cpu" ? limits.busy_cores : limits.busy_gpu;
    return !reading.busy || *reading.busy >= enough;
}

void look_at(const DeviceReading& reading, const GuardLimits& limits, Seen& seen) {
    seen.elapsed_s += reading.elapsed_s.value_or(0);
    seen.busy_s += reading.busy_s.value_or(0);
    seen.steal_s += reading.steal_s.value_or(0);
    seen.quota_s += reading.quota_s.value_or(0);
    seen.thermal_events += reading.thermal_events.value_or(0);
    // Afterwards the device may already rest.
    if (reading.phase != Phase::during || !is_busy(reading, limits)) return;
    ++seen.busy;
    if (reading.clock_hz) {
        seen.clock_sum_hz += *reading.clock_hz;
        ++seen.clocks;
    }
    bool slowed = false;
    for (const Throttle reason : reading.throttles) {
        if (slows(reason) || reason == Throttle::power_cap) seen.name(reason);
        slowed = slowed || slows(reason);
    }
    seen.slowed += slowed;
}

bool too_much_quota(double quota_s, double elapsed_s, const GuardLimits& limits) {
    return quota_s >= limits.least_quota_s && quota_s > limits.most_quota * elapsed_s;
}

bool too_much_steal(double steal_s, double busy_s, const GuardLimits& limits) {
    return steal_s >= limits.least_steal_s && steal_s > limits.most_steal * (busy_s + steal_s);
}

std::string in_parentheses(const std::vector<std::string>& reasons) {
    return reasons.empty() ? "" : fmt::format(" ({})", fmt::join(reasons, ", "));
}

/// One sentence's parts for one device; none: it ran at its own speed.
std::vector<std::string> complaints(const std::string& device, Seen seen,
                                    const double* reference_hz, const GuardLimits& limits) {
    const std::string who = device == "cpu" ? "" : device + " ";
    std::vector<std::string> parts;
    if (seen.thermal_events > 0) seen.name(Throttle::thermal);
    const double clock_hz =
        seen.clocks > 0 ? seen.clock_sum_hz / static_cast<double>(seen.clocks) : 0;
    const bool slow_clock =
        reference_hz != nullptr && seen.clocks > 0 && clock_hz < limits.least_clock * *reference_hz;
    if (slow_clock)
        parts.push_back(fmt::format("{}clock {:.0f} % of {:.3g} GHz{}", who,
                                    100 * clock_hz / *reference_hz, *reference_hz / 1e9,
                                    in_parentheses(seen.reasons)));
    else if (seen.slowed > 0)
        parts.push_back(fmt::format("{}reported {} in {} of {} busy readings", who,
                                    fmt::join(seen.reasons, ", "), seen.slowed, seen.busy));
    if (!slow_clock && seen.thermal_events > 0)
        parts.push_back(fmt::format("the processor counted {} thermal event{}", seen.thermal_events,
                                    seen.thermal_events == 1 ? "" : "s"));
    if (too_much_quota(seen.quota_s, seen.elapsed_s, limits))
        parts.push_back(
            fmt::format("the control group's quota held back {:.2f} core-seconds in "
                        "{:.2f} s",
                        seen.quota_s, seen.elapsed_s));
    if (too_much_steal(seen.steal_s, seen.busy_s, limits))
        parts.push_back(fmt::format("the hypervisor took {:.0f} % of the processor time",
                                    100 * seen.steal_s / (seen.busy_s + seen.steal_s)));
    return parts;
}

}  // namespace

std::vector<Throttle> throttles_of(unsigned long long event_reasons) {
    std::vector<Throttle> found;
    for (int bit = 0; bit <= static_cast<int>(Throttle::display_clock); ++bit)
        if ((event_reasons >> bit) & 1) found.push_back(static_cast<Throttle>(bit));
    return found;
}

bool slows(Throttle reason) {
    switch (reason) {
        case Throttle::hardware_slowdown:
        case Throttle::software_thermal:
        case Throttle::hardware_thermal:
        case Throttle::power_brake:
        case Throttle::thermal:
            return true;
        case Throttle::gpu_idle:
        case Throttle::application_clocks:
        case Throttle::power_cap:
        case Throttle::sync_boost:
        case Throttle::display_clock:
        case Throttle::quota:  // judged by how much of the sample they took
        case Throttle::steal:
            break;
    }
    return false;
}

std::vector<Throttle> throttles_between(const DeviceReading& cpu, const GuardLimits& limits) {
    std::vector<Throttle> found;
    if (cpu.thermal_events.value_or(0) > 0) found.push_back(Throttle::thermal);
    if (too_much_quota(cpu.quota_s.value_or(0), cpu.elapsed_s.value_or(0), limits))
        found.push_back(Throttle::quota);
    if (too_much_steal(cpu.steal_s.value_or(0), cpu.busy_s.value_or(0), limits))
        found.push_back(Throttle::steal);
    return found;
}

GuardVerdict guard_clock(std::span<const DeviceReading> readings,
                         const std::map<std::string, double>& reference_clocks_hz,
                         const GuardLimits& limits) {
    std::map<std::string, Seen> devices;
    for (const DeviceReading& reading : readings)
        // What was counted up to the first reading happened before the sample.
        if (reading.phase != Phase::before) look_at(reading, limits, devices[reading.device]);
    std::vector<std::string> parts;
    for (const auto& [device, seen] : devices) {
        const auto reference = reference_clocks_hz.find(device);
        const double* hz = reference == reference_clocks_hz.end() ? nullptr : &reference->second;
        for (std::string& part : complaints(device, seen, hz, limits))
            parts.push_back(std::move(part));
    }
    if (parts.empty()) return {};
    return {true, fmt::format("throttled: {}", fmt::join(parts, "; "))};
}

}  // namespace assay::measure
