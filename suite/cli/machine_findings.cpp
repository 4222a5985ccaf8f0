#include "suite/cli/machine_findings.hpp"

#include "suite/measure/environment.hpp"
#include "suite/measure/hardware/hardware_monitor.hpp"

namespace assay::cli {
namespace {

/// Assumed: a process that takes less hardly disturbs.
constexpr double busy_cores = 0.25;

void append(std::vector<Finding>& all, std::vector<Finding> more) {
    for (Finding& finding : more) all.push_back(std::move(finding));
}

}  // namespace

std::vector<measure::BusyProcess> disturbing_processes(double look_s) {
    return measure::busy_processes(measure::hardware_root(), look_s, busy_cores);
}

std::vector<Finding> machine_findings(double look_s) {
    const auto root = measure::hardware_root();
    std::vector<Finding> all = memory_findings(measure::read_memory_state(root));
    append(all, cpu_findings(measure::read_cpu_state(root), measure::count_usable_processors()));
    all.push_back(process_finding(disturbing_processes(look_s)));
    append(all, gpu_findings(measure::Nvml()));
    return all;
}

}  // namespace assay::cli
