#include "suite/cli/upkeep/machine_profiles.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "suite/measure/build_info.hpp"
#include "suite/measure/environment.hpp"

namespace assay::cli {
namespace {

using measure::ProbeEffort;
using measure::Reading;

/// Buffers for copying: four times the largest cache at least, and an eighth of the memory at most.
ProbeEffort fitted(ProbeEffort effort, const measure::Environment& machine) {
    for (const measure::Cache& cache : machine.caches)
        effort.copy_bytes = std::max(effort.copy_bytes, 4 * cache.bytes);
    if (machine.memory_bytes > 0)
        effort.copy_bytes = std::min(effort.copy_bytes, machine.memory_bytes / 8);
    return effort;
}

struct Probe {
    const char* name;  ///< of the profile's number
    const char* unit;
    const char* says;
    std::function<Reading()> read;
};

/// "assay calibrate machine, 2026-11-21, commit 0123456789ab, load 0.1": what all measured sources
/// begin with. A machine that is busy with other things measures low; the load tells.
std::string origin(const std::string& when, double load) {
    const std::string commit = measure::build_info().commit;
    return fmt::format(
        "assay calibrate machine, {}, {}, load {:.1f}", when,
        commit.empty() ? "build " + measure::build_id().substr(0, 12) : "commit " + commit, load);
}

}  // namespace

MachineProfiles measure_machine(
    const ProbeEffort& wanted, const std::filesystem::path& folder, const std::string& when,
    const std::function<void(const std::string& what, int done, int all)>& tell) {
    const measure::Environment machine = measure::read_environment();
    const int threads = measure::computing_threads(machine);
    const ProbeEffort effort = fitted(wanted, machine);
    const std::vector<std::string> program = {"/proc/self/exe", "--version"};
    const Probe probes[] = {
        {"matmul_flops", "FLOP/s", "matrix products",
         [&] { return probe_matmul(effort, threads); }},
        {"memory_bandwidth", "bytes/s", "memory", [&] { return probe_memory(effort, threads); }},
        {"link_latency_s", "s", "loopback latency", [&] { return probe_loopback_latency(effort); }},
        {"link_bandwidth", "bytes/s", "loopback bandwidth",
         [&] { return probe_loopback_bandwidth(effort); }},
        {"storage_bandwidth", "bytes/s", "storage", [&] { return probe_storage(effort, folder); }},
        {"detect_s", "s", "how soon a death is known", [&] { return probe_detection(effort); }},
        {"relaunch_s", "s", "starting a program", [&] { return probe_start(effort, program); }},
    };
    MachineProfiles result;
    result.load_1m = machine.load_1m;
    const std::string from = origin(when, machine.load_1m);
    const auto measured = [&](std::string_view name) {
        const auto at = std::find_if(result.readings.begin(), result.readings.end(),
                                     [&](const NamedReading& each) { return each.name == name; });
        return Sourced{
            at->reading.median(), "measured",
            fmt::format("{}: {}; median of {}", from, at->reading.how, at->reading.values.size())};
    };
    const auto assumed = [](double value, const char* why) {
        return Sourced{value, "assumed", why};
    };
    int done = 0;
    for (const Probe& probe : probes) {
        tell(probe.says, done++, static_cast<int>(std::size(probes)));
        result.readings.push_back({probe.name, probe.unit, probe.read()});
    }

    DeviceProfile& device = result.device;
    device.id = "this-machine";
    device.says = fmt::format("{}, {} of {} processors used",
                              machine.cpu_model.empty() ? "a processor" : machine.cpu_model,
                              threads, machine.cores);
    device.matmul_flops = measured("matmul_flops");
    device.matmul_efficiency =
        assumed(1,
                "matmul_flops is what our kernel reached; what training reaches of it is not "
                "measured here");
    device.memory_bytes = {static_cast<double>(machine.memory_bytes), "measured",
                           from + ": as the kernel reports it"};
    device.memory_bandwidth = measured("memory_bandwidth");
    device.memory_efficiency = assumed(1, "memory_bandwidth is what copying reached");
    device.launch_s = assumed(0,
                              "on a processor an operation begins with a call, which takes "
                              "nanoseconds; nothing is launched");

    ClusterProfile& cluster = result.cluster;
    cluster.id = "this-machine";
    cluster.says = "Workers on this machine, connected by loopback";
    cluster.devices = {"this-machine"};
    cluster.link_bandwidth = measured("link_bandwidth");
    cluster.link_efficiency =
        assumed(1,
                "link_bandwidth is what one connection reached; collectives are not measured "
                "here");
    cluster.link_latency_s = measured("link_latency_s");
    cluster.storage_bandwidth = measured("storage_bandwidth");
    cluster.detect_s = measured("detect_s");
    cluster.regroup_s = assumed(0.02,
                                "not measured here: connecting four workers on one machine "
                                "anew takes some 20 ms; cluster_regroup_benchmark measures "
                                "it");
    cluster.relaunch_s = measured("relaunch_s");
    return result;
}

}  // namespace assay::cli
