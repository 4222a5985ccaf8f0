// Findings about the processors.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "suite/cli/machine_findings.hpp"

namespace assay::cli {
namespace {

/// Assumed: more disturbs measured numbers visibly.
constexpr double most_load_per_core = 0.5;
constexpr double most_steal = 0.02;

Finding governor(const measure::CpuState& state) {
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

Finding clock(const measure::CpuState& state) {
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

Finding load(const measure::CpuState& state, int usable_cores) {
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

Finding quota(const measure::CpuState& state, int usable_cores) {
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

}  // namespace

std::vector<Finding> cpu_findings(const measure::CpuState& state, int usable_cores) {
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

Finding process_finding(const std::vector<measure::BusyProcess>& busy) {
    if (busy.empty()) return {Level::ok, "processes", "no other busy process"};
    std::vector<std::string> names;
    for (std::size_t i = 0; i < busy.size() && i < 3; ++i)
        names.push_back(
            fmt::format("{} (pid {}) {:.1f} cores", busy[i].name, busy[i].pid, busy[i].cores));
    if (busy.size() > 3) names.push_back(fmt::format("{} more", busy.size() - 3));
    return {Level::warn, "processes",
            fmt::format("busy: {}; end them or wait", fmt::join(names, ", "))};
}

}  // namespace assay::cli
