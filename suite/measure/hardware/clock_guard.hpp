// Says whether a sample was made by a machine that did not run at its own speed. Pure: readings in,
// verdict out.
#pragma once

#include <map>
#include <span>
#include <string>

#include "suite/measure/hardware/device_reading.hpp"

namespace assay::measure {

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
