// What the kernel tells about the processors: counters that run since the start of the machine, and
// what sensors say at one moment. `root` stands in for "/".
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay::measure {

/// Differences of two readings tell what happened in between. nullopt: not counted here.
struct CpuCounters {
    std::optional<double> busy_s;   ///< core-seconds of work, of everybody
    std::optional<double> steal_s;  ///< core-seconds wanted, but given to another machine
    std::optional<double> quota_s;  ///< core-seconds held back by control groups' quotas
    std::optional<long> thermal_events;
    std::optional<double> energy_j;        ///< of all packages (RAPL); often for root only
    std::optional<double> energy_range_j;  ///< where the energy counter starts again
};

/// Finds the files once.
class CpuCounterFiles {
  public:
    explicit CpuCounterFiles(std::filesystem::path root);
    CpuCounters read() const;

  private:
    std::filesystem::path root_;
    std::vector<std::filesystem::path> thermal_, quota_, energy_;
    double energy_range_j_ = 0;
};

/// What was used between two readings; an energy counter that started again is mended.
CpuCounters operator-(const CpuCounters& later, const CpuCounters& earlier);

/// Files of this name ("cpu.stat") of the control groups that this process is in, from its own up
/// to the root, of version 2 or of the controller's ("cpu") in version 1.
std::vector<std::filesystem::path> cgroup_files(const std::filesystem::path& root,
                                                const std::string& controller,
                                                const std::string& name);

/// Where a machine's processors tell of themselves. Found once: looking for the files costs more
/// than reading them.
class CpuSensors {
  public:
    explicit CpuSensors(std::filesystem::path root);

    /// Of the fastest core: scaling_cur_freq, else "cpu MHz" of /proc/cpuinfo.
    std::optional<double> clock_hz() const;
    /// Hottest sensor of the processor: hwmon, else a thermal zone.
    std::optional<double> temperature_c() const;
    /// The clock the processor keeps under full load: its base clock (intel_pstate), its nominal
    /// clock (ACPI), the clock in its name ("… @ 2.60GHz"). nullopt: nobody says (most virtual
    /// machines).
    const std::optional<double>& reference_clock_hz() const { return reference_hz_; }

  private:
    std::filesystem::path root_;
    std::vector<std::filesystem::path> clocks_, temperatures_;
    std::optional<double> reference_hz_;
};

/// A file's first number; nullopt when it cannot be read or is none.
std::optional<double> number_in(const std::filesystem::path& file);

/// Folders named `prefix` and a number, in that number's order.
std::vector<std::filesystem::path> numbered_folders(const std::filesystem::path& parent,
                                                    const std::string& prefix);

}  // namespace assay::measure
