// NVIDIA's management library, loaded at run time. Nothing is linked, and its header is not part of
// the toolkit, so the few prototypes are declared in nvml.cpp. A machine without a driver simply
// has no devices; what a device or an old driver does not tell is nullopt.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace assay::measure {

/// The library's file: ASSAY_NVML, with which tests put one of their own in its place, or
/// "libnvidia-ml.so.1".
const char* nvml_library();

class Nvml {
  public:
    using Device = void*;
    enum class Clock : unsigned { sm = 1, memory = 2 };  ///< nvmlClockType_t

    /// A pair of states, for settings that change with the next reset.
    struct Setting {
        bool now = false, after_reset = false;
    };

    /// Loads and starts the library; never throws. It is stopped by the destructor.
    explicit Nvml(const char* file = nvml_library());
    ~Nvml();
    Nvml(Nvml&&) noexcept;
    Nvml& operator=(Nvml&&) noexcept;

    bool started() const;
    const std::string& reason() const { return reason_; }  ///< why not, when the file is there
    std::string driver() const;                            ///< version; empty: unknown
    /// By the library's index; those that do not answer are left out.
    std::map<unsigned, Device> devices_by_index() const;
    /// The same without their indices, which nothing may be named by.
    std::vector<Device> devices() const;

    std::string name(Device) const;
    std::optional<std::uint64_t> memory_bytes(Device) const;
    std::optional<double> clock_hz(Device, Clock) const;
    std::optional<double> most_clock_hz(Device, Clock) const;
    /// The clock applications get where nobody changed it; some devices do not tell.
    std::optional<double> default_clock_hz(Device, Clock) const;
    std::optional<double> temperature_c(Device) const;
    std::optional<double> power_w(Device) const;
    std::optional<double> power_limit_w(Device) const;
    std::optional<double> default_power_limit_w(Device) const;
    std::optional<double> busy_share(Device) const;  ///< of the last fraction of a second
    /// nvmlClocksEventReasons, a bit field (clock_guard.hpp names the bits).
    std::optional<std::uint64_t> event_reasons(Device) const;
    std::optional<bool> persistent(Device) const;
    std::optional<Setting> ecc(Device) const;
    std::optional<Setting> mig(Device) const;
    /// Lanes of the link to the host: now, and as many as the GPU and its slot allow.
    struct Lanes {
        unsigned now, most;
    };
    std::optional<Lanes> link_lanes(Device) const;
    /// Uncorrected errors of the memory since the driver was loaded.
    std::optional<std::uint64_t> memory_errors(Device) const;
    /// Process ids computing on it, in the driver's view (a container may number them otherwise).
    std::optional<std::vector<unsigned>> computing_processes(Device) const;

  private:
    struct Entries;
    std::unique_ptr<Entries> entries_;  ///< null: not started
    std::string reason_;
};

}  // namespace assay::measure
