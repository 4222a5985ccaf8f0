// What the processors tell at one moment, from the kernel's files below `root`.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay::measure {

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
