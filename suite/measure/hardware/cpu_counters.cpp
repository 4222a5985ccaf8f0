#include "suite/measure/hardware/cpu_counters.hpp"

#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

#include "suite/measure/hardware/cpu_sensors.hpp"
#include "suite/measure/processor.hpp"

namespace assay::measure {
namespace {

namespace fs = std::filesystem;

/// The first line of /proc/stat: "cpu  user nice system idle iowait irq softirq steal guest …" in
/// ticks; guests are counted within user.
void read_times(const fs::path& root, CpuCounters& counters) {
    std::istringstream line(first_line(root / "proc/stat"));
    std::string name;
    double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, irq = 0, softirq = 0, steal = 0;
    if (!(line >> name >> user >> nice >> system >> idle >> waiting) || name != "cpu") return;
    const double tick_s = 1.0 / static_cast<double>(::sysconf(_SC_CLK_TCK));
    line >> irq >> softirq;
    counters.busy_s = (user + nice + system + irq + softirq) * tick_s;
    if (line >> steal) counters.steal_s = steal * tick_s;
}

/// "throttled_usec N" in version 2, "throttled_time NANOSECONDS" in version 1.
std::optional<double> held_back_s(const fs::path& file) {
    std::ifstream in(file);
    std::string name;
    for (double value = 0; in >> name >> value;) {
        if (name == "throttled_usec") return value * 1e-6;
        if (name == "throttled_time") return value * 1e-9;
    }
    return std::nullopt;
}

template <class Number>
void add(std::optional<Number>& sum, const std::optional<double>& value) {
    if (value) sum = sum.value_or(0) + static_cast<Number>(*value);
}

template <class Number>
std::optional<Number> rise(const std::optional<Number>& later,
                           const std::optional<Number>& earlier) {
    if (!later || !earlier) return std::nullopt;
    return *later > *earlier ? *later - *earlier : Number{0};
}

}  // namespace

std::vector<fs::path> quota_files(const fs::path& root) {
    const fs::path groups = root / "sys/fs/cgroup";
    std::vector<fs::path> files;
    std::ifstream in(root / "proc/self/cgroup");
    for (std::string line; std::getline(in, line);) {  // "0::/user.slice", "1:cpu,cpuacct:/box"
        const auto first = line.find(':');
        const auto second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1);
        const bool ours = (',' + controllers + ',').find(",cpu,") != std::string::npos;
        if (!controllers.empty() && !ours) continue;
        const fs::path tree = controllers.empty() ? groups : groups / controllers;
        for (fs::path group = line.substr(second + 1);; group = group.parent_path()) {
            // In a container the path may be one of the host's, which is not there.
            const fs::path file = tree / group.relative_path() / "cpu.stat";
            if (fs::exists(file)) files.push_back(file);
            if (!group.has_relative_path()) break;
        }
    }
    return files;
}

CpuCounterFiles::CpuCounterFiles(fs::path root) : root_(std::move(root)) {
    for (const fs::path& cpu : numbered_folders(root_ / "sys/devices/system/cpu", "cpu"))
        for (const char* name : {"core_throttle_count", "package_throttle_count"})
            if (fs::path file = cpu / "thermal_throttle" / name; fs::exists(file))
                thermal_.push_back(std::move(file));
    quota_ = quota_files(root_);
    for (const fs::path& zone : numbered_folders(root_ / "sys/class/powercap", "intel-rapl:")) {
        const fs::path file = zone / "energy_uj";
        // Others are the whole platform ("psys"), which holds the packages, or a package's memory.
        if (!first_line(zone / "name").starts_with("package") || !number_in(file)) continue;
        energy_.push_back(file);
        energy_range_j_ += number_in(zone / "max_energy_range_uj").value_or(0) * 1e-6;
    }
}

CpuCounters CpuCounterFiles::read() const {
    CpuCounters counters;
    read_times(root_, counters);
    for (const fs::path& file : quota_) add(counters.quota_s, held_back_s(file));
    for (const fs::path& file : thermal_) add(counters.thermal_events, number_in(file));
    for (const fs::path& file : energy_) {
        const auto microjoules = number_in(file);
        if (microjoules) add(counters.energy_j, *microjoules * 1e-6);
    }
    // With several packages, which of them started again is unknown.
    if (energy_.size() == 1 && energy_range_j_ > 0) counters.energy_range_j = energy_range_j_;
    return counters;
}

CpuCounters operator-(const CpuCounters& later, const CpuCounters& earlier) {
    CpuCounters used;
    used.busy_s = rise(later.busy_s, earlier.busy_s);
    used.steal_s = rise(later.steal_s, earlier.steal_s);
    used.quota_s = rise(later.quota_s, earlier.quota_s);
    used.thermal_events = rise(later.thermal_events, earlier.thermal_events);
    if (!later.energy_j || !earlier.energy_j) return used;
    used.energy_j = *later.energy_j - *earlier.energy_j;
    if (*used.energy_j < 0 && later.energy_range_j) *used.energy_j += *later.energy_range_j;
    if (*used.energy_j < 0) used.energy_j.reset();
    return used;
}

}  // namespace assay::measure
