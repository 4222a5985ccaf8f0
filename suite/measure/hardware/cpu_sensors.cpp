#include "suite/measure/hardware/cpu_sensors.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <regex>

#include "suite/measure/processor.hpp"

namespace assay::measure {
namespace {

namespace fs = std::filesystem;

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
