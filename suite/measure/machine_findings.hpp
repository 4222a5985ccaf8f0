// What is to be said about a machine on which something shall be measured: by `assay doctor`, and
// by a measured run before it begins.
#pragma once

#include <string>
#include <vector>

#include "suite/base/describe.hpp"
#include "suite/measure/hardware/machine_state.hpp"
#include "suite/measure/hardware/nvml.hpp"

namespace assay::measure {

enum class Level { ok, warn, fail };
ASSAY_NAMES(Level, ok, warn, fail)

/// One line. `warn`: something will be missing or disturbed; `fail`: nothing can be run.
struct Finding {
    Level level = Level::ok;
    std::string name;  ///< "database", "disk", "memory" …
    std::string says;  ///< a sentence that also says how to mend it
};

/// Everything about the machine but what its GPUs are called. `look_s`: for how long other
/// processes are watched.
std::vector<Finding> machine_findings(double look_s);

/// Other processes that take enough of a core to disturb, seen during the next `look_s` seconds.
std::vector<BusyProcess> disturbing_processes(double look_s);

// The parts, pure but for the GPUs'.
std::vector<Finding> cpu_findings(const CpuState& state, int usable_cores);
std::vector<Finding> memory_findings(const MemoryState& state);
Finding process_finding(const std::vector<BusyProcess>& busy);
std::vector<Finding> gpu_findings(const Nvml& nvml);

}  // namespace assay::measure
