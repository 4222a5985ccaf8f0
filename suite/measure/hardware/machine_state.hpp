// Settings and present state of a machine that disturb measurements: what `assay doctor` judges.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay::measure {

/// What the machine does not tell stays empty.
struct CpuState {
    std::vector<std::string> governors;  ///< the different ones, sorted
    std::optional<bool> turbo;           ///< clocks above the base clock are allowed
    std::optional<double> clock_hz, reference_clock_hz;  ///< as CpuSensors says
    std::optional<double> most_clock_hz;                 ///< the device's own limit
    std::optional<double> allowed_clock_hz;              ///< the administrator's
    std::optional<double> temperature_c;
    bool virtual_machine = false;              ///< the processor says so
    std::optional<double> steal_share;         ///< of the time wanted, since the machine's start
    std::optional<double> quota_cores;         ///< granted by the control group
    std::optional<double> quota_held_back_s;   ///< core-seconds, since the group's making
    std::optional<long> thermal_events;        ///< since the machine's start
    std::optional<int> address_randomisation;  ///< 0: none, 1: part, 2: full
    double load_1m = 0;
};
CpuState read_cpu_state(const std::filesystem::path& root);

struct MemoryState {
    std::optional<std::uint64_t> bytes, available_bytes, swap_bytes, swap_free_bytes;
    int numa_nodes = 0;
    std::optional<bool> numa_balancing;  ///< the kernel moves pages between nodes
    std::string transparent_huge_pages;  ///< "always", "madvise", "never"
};
MemoryState read_memory_state(const std::filesystem::path& root);

struct BusyProcess {
    pid_t pid = 0;
    std::string name;
    double cores = 0;  ///< cores' worth of time
};
/// Processes other than this one that took at least `least_cores` during the next `look_s` seconds
/// (the kernel counts in hundredths of a second), the busiest first.
std::vector<BusyProcess> busy_processes(const std::filesystem::path& root, double look_s,
                                        double least_cores);

}  // namespace assay::measure
