#include "suite/measure/hardware/cpu_sensors.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>

#include "suite/measure/environment.hpp"

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

std::vector<fs::path> cgroup_files(const fs::path& root, const std::string& controller,
                                   const std::string& name) {
    const fs::path groups = root / "sys/fs/cgroup";
    std::vector<fs::path> files;
    std::ifstream in(root / "proc/self/cgroup");
    for (std::string line; std::getline(in, line);) {  // "0::/user.slice", "1:cpu,cpuacct:/box"
        const auto first = line.find(':');
        const auto second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1);
        const bool ours =
            (',' + controllers + ',').find(',' + controller + ',') != std::string::npos;
        if (!controllers.empty() && !ours) continue;
        const fs::path tree = controllers.empty() ? groups : groups / controllers;
        for (fs::path group = line.substr(second + 1);; group = group.parent_path()) {
            // In a container the path may be one of the host's, which is not there.
            const fs::path file = tree / group.relative_path() / name;
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
    quota_ = cgroup_files(root_, "cpu", "cpu.stat");
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

// What they tell at one moment.

namespace {

void keep_larger(std::optional<double>& most, const std::optional<double>& value) {
    if (value && (!most || *value > *most)) most = value;
}

std::optional<double> clock_in_cpuinfo(const fs::path& root) {
    std::optional<double> most;
    std::ifstream in(root / "proc/cpuinfo");
    for (std::string line; std::getline(in, line);) {
        if (line.rfind("cpu MHz", 0) != 0) continue;
        const auto colon = line.find(':');
        if (colon == std::string::npos) continue;
        const double mhz = std::strtod(line.c_str() + colon + 1, nullptr);
        if (mhz > 0) keep_larger(most, mhz * 1e6);
    }
    return most;
}

/// "Intel(R) Xeon(R) CPU E5-2690 v4 @ 2.60GHz …"
std::optional<double> clock_in_name(const std::string& model) {
    static const std::regex pattern("@ *([0-9]+(\\.[0-9]+)?) *GHz");
    std::smatch found;
    if (!std::regex_search(model, found, pattern)) return std::nullopt;
    return std::strtod(found[1].str().c_str(), nullptr) * 1e9;
}

std::optional<double> positive(const std::optional<double>& value, double unit) {
    if (!value || !(*value > 0)) return std::nullopt;
    return *value * unit;
}

std::optional<double> reference_clock(const fs::path& root) {
    const fs::path cpu = root / "sys/devices/system/cpu/cpu0";
    if (const auto khz = positive(number_in(cpu / "cpufreq/base_frequency"), 1e3)) return khz;
    if (const auto mhz = positive(number_in(cpu / "acpi_cppc/nominal_freq"), 1e6)) return mhz;
    // Not cpuinfo_max_freq: that is the turbo's, which a single core reaches and no full load.
    return clock_in_name(read_cpu_model(root));
}

std::vector<fs::path> temperature_files(const fs::path& root) {
    std::vector<fs::path> files;
    for (const fs::path& chip : numbered_folders(root / "sys/class/hwmon", "hwmon")) {
        const std::string name = first_line(chip / "name");
        if (name != "coretemp" && name != "k10temp" && name != "zenpower" && name != "cpu_thermal")
            continue;
        for (int i = 1; i <= 256; ++i) {
            const fs::path file = chip / ("temp" + std::to_string(i) + "_input");
            // Sensors of absent cores leave gaps.
            if (fs::exists(file)) files.push_back(file);
        }
    }
    if (!files.empty()) return files;
    for (const fs::path& zone : numbered_folders(root / "sys/class/thermal", "thermal_zone")) {
        const std::string type = first_line(zone / "type");
        if (type == "x86_pkg_temp" || type.rfind("cpu", 0) == 0) files.push_back(zone / "temp");
    }
    return files;
}

}  // namespace

std::optional<double> number_in(const fs::path& file) {
    std::ifstream in(file);
    double value = 0;
    if (!(in >> value)) return std::nullopt;
    return value;
}

std::vector<fs::path> numbered_folders(const fs::path& parent, const std::string& prefix) {
    std::vector<std::pair<long, fs::path>> found;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(parent, ignored)) {
        const std::string name = entry.path().filename().string();
        if (name.size() <= prefix.size() || name.size() > prefix.size() + 9 ||
            name.rfind(prefix, 0) != 0 ||
            !std::all_of(name.begin() + static_cast<long>(prefix.size()), name.end(),
                         [](unsigned char c) { return std::isdigit(c); }))
            continue;
        found.emplace_back(std::stol(name.substr(prefix.size())), entry.path());
    }
    std::sort(found.begin(), found.end());
    std::vector<fs::path> folders;
    for (auto& [number, path] : found) folders.push_back(std::move(path));
    return folders;
}

CpuSensors::CpuSensors(fs::path root)
    : root_(std::move(root)),
      temperatures_(temperature_files(root_)),
      reference_hz_(reference_clock(root_)) {
    for (const fs::path& cpu : numbered_folders(root_ / "sys/devices/system/cpu", "cpu"))
        if (fs::path file = cpu / "cpufreq/scaling_cur_freq"; fs::exists(file))
            clocks_.push_back(std::move(file));
}

std::optional<double> CpuSensors::clock_hz() const {
    std::optional<double> most;
    for (const fs::path& file : clocks_) keep_larger(most, positive(number_in(file), 1e3));
    return most ? most : clock_in_cpuinfo(root_);
}

std::optional<double> CpuSensors::temperature_c() const {
    std::optional<double> most;
    for (const fs::path& file : temperatures_)
        if (const auto milli = number_in(file)) keep_larger(most, *milli / 1000);
    return most;
}

}  // namespace assay::measure
