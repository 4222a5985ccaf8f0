// What `assay doctor` says about the machine, and what a measured run says before it begins.
#pragma once

#include <vector>

#include "suite/cli/diagnosis.hpp"
#include "suite/measure/hardware/machine_state.hpp"
#include "suite/measure/hardware/nvml.hpp"

namespace assay::cli {

/// Everything about the machine but what its GPUs are called. `look_s`: for how long other
/// processes are watched.
std::vector<Finding> machine_findings(double look_s);

/// Other processes that take enough of a core to disturb, seen during the next `look_s` seconds.
std::vector<measure::BusyProcess> disturbing_processes(double look_s);

// The parts, pure but for the GPUs'.
std::vector<Finding> cpu_findings(const measure::CpuState& state, int usable_cores);
std::vector<Finding> memory_findings(const measure::MemoryState& state);
Finding process_finding(const std::vector<measure::BusyProcess>& busy);
std::vector<Finding> gpu_findings(const measure::Nvml& nvml);

}  // namespace assay::cli
