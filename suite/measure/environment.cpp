// Gathers the environment from the kernel's files and the libraries at hand.
#include "suite/measure/environment.hpp"

#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <sched.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

namespace assay::measure {
namespace {

/// PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"
std::string read_os_name(const std::filesystem::path& root) {
    static const std::string key = "PRETTY_NAME=";
    std::ifstream in(root / "etc/os-release");
    for (std::string line; std::getline(in, line);) {
        if (line.rfind(key, 0) != 0) continue;
        std::string name = line.substr(key.size());
        if (name.size() >= 2 && name.front() == '"' && name.back() == '"')
            name = name.substr(1, name.size() - 2);
        return name;
    }
    return {};
}

std::string trimmed(const std::string& text) {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// "name : value" lines up to the first empty one: the first processor's block.
std::map<std::string, std::string> first_block(const std::filesystem::path& file) {
    std::map<std::string, std::string> fields;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line) && !line.empty();)
        if (const auto colon = line.find(':'); colon != std::string::npos)
            fields.emplace(trimmed(line.substr(0, colon)), trimmed(line.substr(colon + 1)));
    return fields;
}

}  // namespace

Gpus read_gpus(const char* library) {
    Gpus found;
    const Nvml nvml(library);
    found.reason = nvml.reason();
    if (!nvml.started()) return found;
    found.driver = nvml.driver();
    for (const Nvml::Device device : nvml.devices())
        found.devices.push_back({nvml.name(device), nvml.memory_bytes(device).value_or(0)});
    return found;
}

int count_usable_processors() {
    cpu_set_t set;
    CPU_ZERO(&set);
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

int computing_threads(const Environment& environment) {
    const int threads = std::max(1, environment.usable_cores);
    if (!environment.cpu_quota) return threads;
    return std::min(threads, std::max(1, static_cast<int>(std::ceil(*environment.cpu_quota))));
}

Environment read_environment(const std::filesystem::path& root) {
    Environment here;
    here.cpu_model = read_cpu_model(root);
    here.cores = count_processors(root);
    here.usable_cores = count_usable_processors();
    here.cpu_quota = read_cpu_quota(root);
    here.memory_bytes = read_memory_bytes(root);
    here.caches = read_caches(root);
    here.governor = first_line(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    here.os = read_os_name(root);
    here.libc = std::string("glibc ") + gnu_get_libc_version();
    utsname names{};
    if (uname(&names) == 0) {
        here.kernel = names.release;
        here.hostname = names.nodename;
    }
    std::istringstream(first_line(root / "proc/loadavg")) >> here.load_1m;
    here.gpus = read_gpus();
    return here;
}

std::string first_line(const std::filesystem::path& file) {
    std::ifstream in(file);
    std::string line;
    std::getline(in, line);
    return line;
}

std::string read_cpu_model(const std::filesystem::path& root) {
    const auto fields = first_block(root / "proc/cpuinfo");
    const auto field = [&](const char* name) {
        const auto found = fields.find(name);
        return found == fields.end() ? std::string() : found->second;
    };
    if (const std::string name = field("model name"); !name.empty())
        return fmt::format("{} (family {} model {} stepping {})", name, field("cpu family"),
                           field("model"), field("stepping"));
    if (const std::string part = field("CPU part"); !part.empty())  // Arm
        return fmt::format("Arm implementer {} part {} variant {}", field("CPU implementer"), part,
                           field("CPU variant"));
    return {};
}

int count_processors(const std::filesystem::path& root) {
    std::ifstream in(root / "proc/cpuinfo");
    int count = 0;
    for (std::string line; std::getline(in, line);) count += line.rfind("processor", 0) == 0;
    return count;
}

std::vector<Cache> read_caches(const std::filesystem::path& root) {
    std::vector<Cache> caches;
    for (int i = 0;; ++i) {
        const auto folder = root / fmt::format("sys/devices/system/cpu/cpu0/cache/index{}", i);
        std::istringstream size(first_line(folder / "size"));  // "512K"
        std::uint64_t amount = 0;
        char unit = ' ';
        if (!(size >> amount)) return caches;
        size >> unit;
        const std::uint64_t scale = unit == 'K' ? 1024 : unit == 'M' ? 1024 * 1024 : 1;
        std::istringstream level(first_line(folder / "level"));
        Cache cache;
        level >> cache.level;
        cache.type = first_line(folder / "type");
        cache.bytes = amount * scale;
        caches.push_back(std::move(cache));
    }
}

std::uint64_t read_memory_bytes(const std::filesystem::path& root) {
    std::ifstream in(root / "proc/meminfo");
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::string name;
        std::uint64_t kib = 0;
        if (words >> name >> kib && name == "MemTotal:") return kib * 1024;
    }
    return 0;
}

std::optional<double> read_cpu_quota(const std::filesystem::path& root) {
    const auto ratio = [](std::istream&& in) -> std::optional<double> {
        double quota = 0, period = 0;
        if (in >> quota >> period && quota > 0 && period > 0) return quota / period;
        return std::nullopt;  // "max" in version 2, -1 in version 1
    };
    const auto groups = root / "sys/fs/cgroup";
    if (const auto limit = ratio(std::istringstream(first_line(groups / "cpu.max")))) return limit;
    return ratio(std::istringstream(first_line(groups / "cpu/cpu.cfs_quota_us") + " " +
                                    first_line(groups / "cpu/cpu.cfs_period_us")));
}

}  // namespace assay::measure
