// What a device tells of itself at one moment, and whether a sample was made by a machine that did
// not run at its own speed.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "suite/base/describe.hpp"

namespace assay::measure {

/// Why a device does not run as fast as it could. NVML's bits (nvmlClocksEventReasons) come first,
/// in their order; the last three are a processor's.
enum class Throttle {
    gpu_idle,
    application_clocks,
    power_cap,
    hardware_slowdown,
    sync_boost,
    software_thermal,
    hardware_thermal,
    power_brake,
    display_clock,
    thermal,  ///< the processor's own counter of thermal events rose
    quota,    ///< the control group's quota held its processes back
    steal,    ///< the hypervisor gave the processors to somebody else
};
ASSAY_NAMES(Throttle, (gpu_idle, "idle"), (application_clocks, "application clocks"),
            (power_cap, "power cap"), (hardware_slowdown, "hardware slowdown"),
            (sync_boost, "sync boost"), (software_thermal, "software thermal"),
            (hardware_thermal, "hardware thermal"), (power_brake, "power brake"),
            (display_clock, "display clock"), thermal, quota, steal)

/// Those of NVML's bits that are set; bits without a name here are left out.
std::vector<Throttle> throttles_of(unsigned long long event_reasons);

enum class Phase { before, during, after };  ///< of a sample

/// What the device does not tell is nullopt.
struct DeviceReading {
    double t_s = 0;      ///< since the sample's start; negative or 0 before it
    std::string device;  ///< "cpu", "gpu0" …
    Phase phase = Phase::during;
    /// Of a processor: the fastest core's, which is the busy one when others idle.
    std::optional<double> clock_hz;
    std::optional<double> memory_clock_hz, temperature_c;
    std::optional<double> power_w;  ///< of a processor: mean since the reading before
    std::vector<Throttle> throttles;
    /// Of a GPU: share of the last moments with work on it. Of a processor: cores' worth of work
    /// since the reading before, whoever's.
    std::optional<double> busy;
    // Of a processor, since the reading before; seconds are core-seconds.
    std::optional<double> elapsed_s, busy_s, steal_s, quota_s;
    std::optional<long> thermal_events;
};

// The guard. Pure: readings in, verdict out.

/// Assumed limits, chosen so that ordinary disturbance passes: on a crowded virtual machine with
/// two cores we measured 0.2 % of stolen time on average and 14 % in the worst of 389 seconds.
struct GuardLimits {
    /// Of the reference clock; nvbench's throttle threshold too.
    double least_clock = 0.75;
    /// A processor's clock counts while at least so many cores' worth of work are done; one that
    /// has nothing to do slows down by itself.
    double busy_cores = 0.5;
    double busy_gpu = 0.2;  ///< share of the moments before a reading
    /// Of the processor time wanted (done plus stolen), and at least so much of it: the kernel
    /// counts in hundredths of a second.
    double most_steal = 0.20, least_steal_s = 0.1;
    /// Core-seconds held back by quotas per second, and in all.
    double most_quota = 0.05, least_quota_s = 0.05;
};

struct GuardVerdict {
    bool throttled = false;
    /// A sentence: "throttled: clock 61 % of 3.1 GHz (thermal)"; empty when it was not.
    std::string reason;
};

/// Whether this makes a device slower than it is. Not: an idle GPU, clocks that somebody chose
/// (application clocks, sync boost, display clock), nor the power cap: large products reach it in
/// normal operation, and where it costs much the clock shows it.
bool slows(Throttle reason);

/// A device is judged by its readings during the sample while it was busy: throttled when their
/// mean clock is below the least, or one reports what slows. A processor also by what was counted
/// from the sample's start to its end: thermal events, time held back by a quota, time stolen.
/// Without a reference clock the clock is not judged.
GuardVerdict guard_clock(std::span<const DeviceReading> readings,
                         const std::map<std::string, double>& reference_clocks_hz,
                         const GuardLimits& limits = {});

/// What of it happened between a processor's reading and the one before, for the record.
std::vector<Throttle> throttles_between(const DeviceReading& cpu, const GuardLimits& limits = {});

}  // namespace assay::measure
