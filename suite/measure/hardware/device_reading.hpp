// What a device tells of itself at one moment.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

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
std::string_view to_string(Throttle);

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

}  // namespace assay::measure
