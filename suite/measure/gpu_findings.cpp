// Findings about the GPUs. Settings are read, never changed: MIG mode, clocks and limits belong to
// the administrator.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "suite/measure/hardware/clock_guard.hpp"
#include "suite/measure/machine_findings.hpp"

namespace assay::measure {
namespace {

/// Assumed: busier than this without us, it is somebody else's.
constexpr double busy_share = 0.05;

/// Collects the findings of one GPU.
class Examination {
  public:
    Examination(const Nvml& nvml, Nvml::Device device, std::string name,
                std::vector<Finding>& findings)
        : nvml_(nvml), device_(device), name_(std::move(name)), findings_(findings) {}

    void all() {
        persistence();
        ecc();
        link();
        power();
        clocks();
        mig();
        others();
    }

  private:
    void say(Level level, const char* what, std::string says) {
        findings_.push_back({level, name_ + " " + what, std::move(says)});
    }

    void persistence() {
        const auto on = nvml_.persistent(device_);
        if (!on) return;
        say(*on ? Level::ok : Level::warn, "persistence",
            *on ? "on" : "off: the driver starts anew for every process; nvidia-smi -pm 1 as root");
    }

    void ecc() {
        const auto errors = nvml_.memory_errors(device_);
        if (errors && *errors > 0)
            return say(Level::warn, "ecc",
                       fmt::format("{} uncorrected memory errors since the driver was loaded; "
                                   "results may be wrong",
                                   *errors));
        const auto mode = nvml_.ecc(device_);
        if (!mode) return;
        if (mode->now != mode->after_reset)
            return say(Level::warn, "ecc",
                       fmt::format("{} now, {} after the next reset; numbers will not compare",
                                   mode->now ? "on" : "off", mode->after_reset ? "on" : "off"));
        say(Level::ok, "ecc", mode->now ? "on" : "off: compare only with others without it");
    }

    /// Not its generation: an idle link rests in a lower one.
    void link() {
        const auto lanes = nvml_.link_lanes(device_);
        if (!lanes) return;
        say(lanes->now < lanes->most ? Level::warn : Level::ok, "link",
            lanes->now < lanes->most
                ? fmt::format("{} of {} PCIe lanes: copies to and from it are slow; is it seated "
                              "well, and the slot as wide?",
                              lanes->now, lanes->most)
                : fmt::format("all of {} PCIe lanes", lanes->most));
    }

    void power() {
        const auto limit = nvml_.power_limit_w(device_);
        const auto usual = nvml_.default_power_limit_w(device_);
        if (!limit) return;
        if (usual && *limit < 0.99 * *usual)
            return say(Level::warn, "power",
                       fmt::format("capped at {:.0f} W of {:.0f} W; nvidia-smi -pl {:.0f} as root",
                                   *limit, *usual, *usual));
        say(Level::ok, "power", fmt::format("limit {:.0f} W", *limit));
    }

    void clocks() {
        const auto now = nvml_.clock_hz(device_, Nvml::Clock::sm);
        const auto most = nvml_.most_clock_hz(device_, Nvml::Clock::sm);
        std::vector<std::string_view> slowing;
        for (const Throttle reason : throttles_of(nvml_.event_reasons(device_).value_or(0)))
            if (slows(reason)) slowing.push_back(to_string(reason));
        if (!now || !most) return;
        std::string text = fmt::format("{:.0f} MHz of {:.0f} MHz", *now / 1e6, *most / 1e6);
        if (const auto celsius = nvml_.temperature_c(device_))
            text += fmt::format(", {:.0f} °C", *celsius);
        if (!slowing.empty())
            return say(Level::warn, "clock",
                       fmt::format("{}; slowed: {}", text, fmt::join(slowing, ", ")));
        say(Level::ok, "clock", text);
    }

    void mig() {
        const auto mode = nvml_.mig(device_);
        if (!mode) return;
        say(mode->now ? Level::warn : Level::ok, "mig",
            mode->now ? "on: numbers are those of a slice; left as it is" : "off");
    }

    void others() {
        const auto pids = nvml_.computing_processes(device_);
        if (pids && !pids->empty())
            return say(Level::warn, "processes",
                       fmt::format("{} other: pid {}; both disturb each other", pids->size(),
                                   fmt::join(*pids, ", ")));
        const double busy = nvml_.busy_share(device_).value_or(0);
        if (busy > busy_share)
            return say(Level::warn, "processes",
                       fmt::format("none visible, but it is {:.0f} % busy", 100 * busy));
        if (pids) say(Level::ok, "processes", "no other");
    }

    const Nvml& nvml_;
    Nvml::Device device_;
    std::string name_;
    std::vector<Finding>& findings_;
};

}  // namespace

std::vector<Finding> gpu_findings(const Nvml& nvml) {
    std::vector<Finding> findings;
    for (const auto& [index, device] : nvml.devices_by_index())
        Examination(nvml, device, fmt::format("gpu{}", index), findings).all();
    return findings;
}

}  // namespace assay::measure
