// Reads clocks, temperatures, power and what slows the machine's devices, around and during a
// sample: GPUs through NVML, the processors through the kernel's files.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "suite/measure/hardware/clock_guard.hpp"
#include "suite/measure/hardware/cpu_sensors.hpp"
#include "suite/measure/hardware/nvml.hpp"

namespace assay::measure {

/// Where a machine's files are: "/", or what ASSAY_HARDWARE_ROOT names, with which tests put a
/// machine of their own in its place.
std::filesystem::path hardware_root();

class HardwareMonitor {
  public:
    explicit HardwareMonitor(const std::filesystem::path& root = hardware_root(),
                             const char* nvml_file = nvml_library());

    /// All devices, the processors ("cpu") first. What counts "since the reading before" counts
    /// since the last call, and is nullopt in the first. Never throws for what cannot be read.
    /// Costs some ten microseconds for each of the machine's logical processors.
    std::vector<DeviceReading> read(double t_s, Phase phase);

    /// The clock each device keeps under full load, Hz; devices that do not tell are absent.
    const std::map<std::string, double>& reference_clocks_hz() const { return references_; }

  private:
    DeviceReading read_cpu(double t_s, Phase phase);
    DeviceReading read_gpu(unsigned index, Nvml::Device device, double t_s, Phase phase) const;

    CpuSensors sensors_;
    CpuCounterFiles counter_files_;
    CpuCounters counters_;  ///< at the reading before
    double counted_at_s_ = 0;
    bool counted_ = false;
    Nvml nvml_;
    std::map<unsigned, Nvml::Device> gpus_;  ///< by the library's index, which names them
    std::map<std::string, double> references_;
};

}  // namespace assay::measure
