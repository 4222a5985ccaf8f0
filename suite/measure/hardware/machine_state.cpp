#include "suite/measure/hardware/machine_state.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "suite/measure/environment.hpp"
#include "suite/measure/hardware/cpu_sensors.hpp"

namespace assay::measure {
namespace {

namespace fs = std::filesystem;

std::optional<double> khz_as_hz(const fs::path& file) {
    const auto khz = number_in(file);
    if (!khz || *khz <= 0) return std::nullopt;
    return *khz * 1e3;
}

std::vector<std::string> read_governors(const fs::path& cpus) {
    std::set<std::string> found;
    for (const fs::path& cpu : numbered_folders(cpus, "cpu"))
        if (std::string name = first_line(cpu / "cpufreq/scaling_governor"); !name.empty())
            found.insert(std::move(name));
    return {found.begin(), found.end()};
}

std::optional<bool> read_turbo(const fs::path& cpus) {
    if (const auto off = number_in(cpus / "intel_pstate/no_turbo")) return *off == 0;
    if (const auto on = number_in(cpus / "cpufreq/boost")) return *on != 0;
    return std::nullopt;
}

/// The flag "hypervisor" of /proc/cpuinfo.
bool says_virtual(const fs::path& root) {
    std::ifstream in(root / "proc/cpuinfo");
    for (std::string line; std::getline(in, line);)
        if (line.rfind("flags", 0) == 0)
            return (line + ' ').find(" hypervisor ") != std::string::npos;
    return false;
}

/// "always [madvise] never" → "madvise"
std::string chosen(const std::string& line) {
    const auto open = line.find('['), close = line.find(']');
    if (open == std::string::npos || close == std::string::npos || close < open) return {};
    return line.substr(open + 1, close - open - 1);
}

}  // namespace

CpuState read_cpu_state(const fs::path& root) {
    const fs::path cpus = root / "sys/devices/system/cpu";
    CpuState state;
    state.governors = read_governors(cpus);
    state.turbo = read_turbo(cpus);
    const CpuSensors sensors(root);
    state.clock_hz = sensors.clock_hz();
    state.reference_clock_hz = sensors.reference_clock_hz();
    state.temperature_c = sensors.temperature_c();
    state.most_clock_hz = khz_as_hz(cpus / "cpu0/cpufreq/cpuinfo_max_freq");
    state.allowed_clock_hz = khz_as_hz(cpus / "cpu0/cpufreq/scaling_max_freq");
    state.virtual_machine = says_virtual(root);
    const CpuCounters counters = CpuCounterFiles(root).read();
    if (counters.steal_s && counters.busy_s && *counters.busy_s + *counters.steal_s > 0)
        state.steal_share = *counters.steal_s / (*counters.busy_s + *counters.steal_s);
    state.quota_cores = read_cpu_quota(root);
    state.quota_held_back_s = counters.quota_s;
    state.thermal_events = counters.thermal_events;
    if (const auto mode = number_in(root / "proc/sys/kernel/randomize_va_space"))
        state.address_randomisation = static_cast<int>(*mode);
    state.load_1m = number_in(root / "proc/loadavg").value_or(0);
    return state;
}

MemoryState read_memory_state(const fs::path& root) {
    MemoryState state;
    std::ifstream in(root / "proc/meminfo");
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::string name;
        std::uint64_t kib = 0;
        if (!(words >> name >> kib)) continue;
        if (name == "MemTotal:") state.bytes = kib * 1024;
        if (name == "MemAvailable:") state.available_bytes = kib * 1024;
        if (name == "SwapTotal:") state.swap_bytes = kib * 1024;
        if (name == "SwapFree:") state.swap_free_bytes = kib * 1024;
    }
    state.numa_nodes =
        static_cast<int>(numbered_folders(root / "sys/devices/system/node", "node").size());
    if (const auto mode = number_in(root / "proc/sys/kernel/numa_balancing"))
        state.numa_balancing = *mode != 0;
    state.transparent_huge_pages =
        chosen(first_line(root / "sys/kernel/mm/transparent_hugepage/enabled"));
    return state;
}

// Who uses the processors: two looks at every process's times.

namespace {

struct Times {
    std::string name;
    double busy_s = 0;
};

/// "42 (a name (with) anything) S ppid … utime stime …": the name ends at the last parenthesis,
/// and the times are the 12th and 13th field after it.
std::optional<Times> times_in(const fs::path& file) {
    std::ifstream in(file);
    std::string text;
    std::getline(in, text, '\0');  // a process may end meanwhile: then reading fails
    const auto open = text.find('('), close = text.rfind(')');
    if (open == std::string::npos || close == std::string::npos || close < open)
        return std::nullopt;
    std::istringstream fields(text.substr(close + 1));
    std::string skipped;
    for (int i = 0; i < 11; ++i) fields >> skipped;
    double user = 0, system = 0;
    if (!(fields >> user >> system)) return std::nullopt;
    return Times{text.substr(open + 1, close - open - 1),
                 (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK))};
}

std::map<pid_t, Times> all_times(const fs::path& root) {
    std::map<pid_t, Times> all;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(root / "proc", ignored)) {
        const std::string name = entry.path().filename().string();
        if (name.empty() || name.size() > 9 ||
            name.find_first_not_of("0123456789") != std::string::npos)
            continue;
        const pid_t pid = static_cast<pid_t>(std::stol(name));
        if (pid == ::getpid()) continue;
        if (auto times = times_in(entry.path() / "stat")) all.emplace(pid, std::move(*times));
    }
    return all;
}

}  // namespace

std::vector<BusyProcess> busy_processes(const fs::path& root, double look_s, double least_cores) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    const auto before = all_times(root);
    std::this_thread::sleep_for(std::chrono::duration<double>(look_s));
    const auto after = all_times(root);
    const double passed_s = std::chrono::duration<double>(Clock::now() - start).count();
    std::vector<BusyProcess> busy;
    for (const auto& [pid, times] : after) {
        const auto earlier = before.find(pid);
        if (earlier == before.end()) continue;
        const double cores = (times.busy_s - earlier->second.busy_s) / passed_s;
        if (cores >= least_cores) busy.push_back({pid, times.name, cores});
    }
    std::sort(busy.begin(), busy.end(),
              [](const BusyProcess& a, const BusyProcess& b) { return a.cores > b.cores; });
    return busy;
}

}  // namespace assay::measure
