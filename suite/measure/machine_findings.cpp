#include "suite/measure/machine_findings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "suite/base/quantity_text.hpp"
#include "suite/measure/environment.hpp"
#include "suite/measure/hardware/hardware_monitor.hpp"

namespace assay::measure {
namespace {

// The processors.

/// Assumed: more disturbs measured numbers visibly.
constexpr double most_load_per_core = 0.5;
constexpr double most_steal = 0.02;

Finding governor(const CpuState& state) {
    if (state.governors.empty())
        return {Level::ok, "governor", "no frequency governor visible (a virtual machine?)"};
    const bool steady = state.governors == std::vector<std::string>{"performance"};
    const std::string names = fmt::format("{}", fmt::join(state.governors, ", "));
    return {steady ? Level::ok : Level::warn, "governor",
            steady ? names
                   : names +
                         "; 'performance' gives steadier numbers: "
                         "cpupower frequency-set -g performance"};
}

Finding turbo(bool on) {
    if (!on) return {Level::ok, "turbo", "off"};
    return {Level::warn, "turbo",
            "on: clocks change with temperature and with how many cores work; for steadier numbers "
            "write 1 to intel_pstate/no_turbo or 0 to cpufreq/boost in /sys/devices/system/cpu"};
}

Finding clock(const CpuState& state) {
    std::vector<std::string> parts;
    const auto add = [&](const std::optional<double>& hz, const char* what) {
        if (hz) parts.push_back(fmt::format("{:.2f} GHz {}", *hz / 1e9, what));
    };
    add(state.clock_hz, "now");
    add(state.reference_clock_hz, "under full load");
    add(state.most_clock_hz, "at most");
    if (state.temperature_c) parts.push_back(fmt::format("{:.0f} °C", *state.temperature_c));
    const std::string text = parts.empty() ? "not told" : fmt::format("{}", fmt::join(parts, ", "));
    const auto &allowed = state.allowed_clock_hz, &most = state.most_clock_hz;
    if (allowed && most && *allowed < 0.99 * *most)
        return {Level::warn, "clock",
                fmt::format("{}; limited to {:.2f} GHz by scaling_max_freq", text, *allowed / 1e9)};
    return {Level::ok, "clock", text};
}

Finding load(const CpuState& state, int usable_cores) {
    const bool busy = state.load_1m / std::max(1, usable_cores) > most_load_per_core;
    return {busy ? Level::warn : Level::ok, "load",
            fmt::format("{:.2f} in the last minute{}", state.load_1m,
                        busy ? "; measured numbers will be disturbed" : "")};
}

Finding steal(double share) {
    const bool much = share > most_steal;
    return {much ? Level::warn : Level::ok, "steal",
            fmt::format("{:.1f} % of the processor time was given to other virtual machines since "
                        "the start{}",
                        100 * share, much ? "; expect noise, or take a dedicated host" : "")};
}

Finding quota(const CpuState& state, int usable_cores) {
    if (!state.quota_cores) return {Level::ok, "quota", "none"};
    const bool tight = *state.quota_cores < usable_cores;
    const double held_back_s = state.quota_held_back_s.value_or(0);
    return {
        tight ? Level::warn : Level::ok, "quota",
        fmt::format("{:g} cores for {} usable ones, {:.1f} core-seconds held back so far{}",
                    *state.quota_cores, usable_cores, held_back_s,
                    tight ? "; work on all cores is stopped in every period: raise cpu.max" : "")};
}

Finding address_randomisation(int mode) {
    if (mode > 0)
        return {Level::ok, "addresses",
                "random: every process has a layout of its own, and samples average over them"};
    return {Level::warn, "addresses",
            "not random: all samples share one layout, and its luck looks like a result; "
            "sysctl kernel.randomize_va_space=2"};
}

// The memory.

/// Assumed: with less, larger experiments do not fit.
constexpr double little_memory_bytes = 4e9;
constexpr double little_available_bytes = 1e9;
constexpr double most_swap_share = 0.05;  ///< of the memory

Finding memory(const MemoryState& state) {
    if (!state.bytes) return {Level::ok, "memory", "not told"};
    const double bytes = static_cast<double>(*state.bytes);
    std::string text = bytes_text(bytes);
    bool short_of_it = bytes < little_memory_bytes;
    if (state.available_bytes) {
        const double available = static_cast<double>(*state.available_bytes);
        text += fmt::format(", {} available", bytes_text(available));
        short_of_it = short_of_it || available < little_available_bytes;
    }
    return {short_of_it ? Level::warn : Level::ok, "memory",
            short_of_it ? text + "; little: large experiments may not fit" : text};
}

Finding swap(const MemoryState& state) {
    const double all = static_cast<double>(*state.swap_bytes);
    const double used =
        all - static_cast<double>(state.swap_free_bytes.value_or(*state.swap_bytes));
    if (all == 0) return {Level::ok, "swap", "none"};
    const bool much = used > most_swap_share * static_cast<double>(state.bytes.value_or(0));
    return {much ? Level::warn : Level::ok, "swap",
            fmt::format("{} of {} used{}", bytes_text(used), bytes_text(all),
                        much ? "; memory is short, and what comes back from disk is slow" : "")};
}

Finding numa(const MemoryState& state) {
    if (state.numa_nodes < 2) return {Level::ok, "numa", "one node"};
    if (state.numa_balancing.value_or(false))
        return {Level::warn, "numa",
                fmt::format("{} nodes, and the kernel moves pages between them while samples run; "
                            "sysctl kernel.numa_balancing=0",
                            state.numa_nodes)};
    return {Level::ok, "numa",
            fmt::format("{} nodes; numactl binds a run to one of them", state.numa_nodes)};
}

Finding huge_pages(const std::string& mode) {
    if (mode != "always") return {Level::ok, "huge pages", mode};
    return {Level::warn, "huge pages",
            "always: whether memory gets them changes from process to process; write madvise to "
            "/sys/kernel/mm/transparent_hugepage/enabled"};
}

/// Assumed: a process that takes less hardly disturbs.
constexpr double busy_cores = 0.25;

void append(std::vector<Finding>& all, std::vector<Finding> more) {
    for (Finding& finding : more) all.push_back(std::move(finding));
}

}  // namespace

std::vector<Finding> cpu_findings(const CpuState& state, int usable_cores) {
    std::vector<Finding> findings{load(state, usable_cores), governor(state)};
    if (state.turbo) findings.push_back(turbo(*state.turbo));
    findings.push_back(clock(state));
    if (state.thermal_events)
        findings.push_back({*state.thermal_events > 0 ? Level::warn : Level::ok, "thermal",
                            *state.thermal_events > 0
                                ? fmt::format("{} thermal events since the start; look after the "
                                              "cooling",
                                              *state.thermal_events)
                                : "no thermal event since the start"});
    findings.push_back(
        {Level::ok, "virtual machine",
         state.virtual_machine ? "yes: neighbours and true clocks are out of sight" : "no"});
    if (state.steal_share) findings.push_back(steal(*state.steal_share));
    findings.push_back(quota(state, usable_cores));
    if (state.address_randomisation)
        findings.push_back(address_randomisation(*state.address_randomisation));
    return findings;
}

Finding process_finding(const std::vector<BusyProcess>& busy) {
    if (busy.empty()) return {Level::ok, "processes", "no other busy process"};
    std::vector<std::string> names;
    for (std::size_t i = 0; i < busy.size() && i < 3; ++i)
        names.push_back(
            fmt::format("{} (pid {}) {:.1f} cores", busy[i].name, busy[i].pid, busy[i].cores));
    if (busy.size() > 3) names.push_back(fmt::format("{} more", busy.size() - 3));
    return {Level::warn, "processes",
            fmt::format("busy: {}; end them or wait", fmt::join(names, ", "))};
}

std::vector<Finding> memory_findings(const MemoryState& state) {
    std::vector<Finding> findings{memory(state)};
    if (state.swap_bytes) findings.push_back(swap(state));
    if (state.numa_nodes > 0) findings.push_back(numa(state));
    if (!state.transparent_huge_pages.empty())
        findings.push_back(huge_pages(state.transparent_huge_pages));
    return findings;
}

std::vector<BusyProcess> disturbing_processes(double look_s) {
    return busy_processes(hardware_root(), look_s, busy_cores);
}

std::vector<Finding> machine_findings(double look_s) {
    const auto root = hardware_root();
    std::vector<Finding> all = memory_findings(read_memory_state(root));
    append(all, cpu_findings(read_cpu_state(root), count_usable_processors()));
    all.push_back(process_finding(disturbing_processes(look_s)));
    append(all, gpu_findings(Nvml()));
    return all;
}

}  // namespace assay::measure
