// What the kernel counts about the processors since the start of the machine. Differences of two
// readings tell what happened in between.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

namespace assay::measure {

/// nullopt: not counted here.
struct CpuCounters {
    std::optional<double> busy_s;   ///< core-seconds of work, of everybody
    std::optional<double> steal_s;  ///< core-seconds wanted, but given to another machine
    std::optional<double> quota_s;  ///< core-seconds held back by control groups' quotas
    std::optional<long> thermal_events;
    std::optional<double> energy_j;        ///< of all packages (RAPL); often for root only
    std::optional<double> energy_range_j;  ///< where the energy counter starts again
};

/// Finds the files once; `root` stands in for "/".
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

/// cpu.stat files of the control groups this process is in, from its own up to the root, of
/// version 2 or 1.
std::vector<std::filesystem::path> quota_files(const std::filesystem::path& root);

}  // namespace assay::measure
