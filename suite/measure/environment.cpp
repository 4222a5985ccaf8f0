// Gathers the environment from the kernel's files and the libraries at hand.
#include "suite/measure/environment.hpp"

#include <gnu/libc-version.h>
#include <sched.h>
#include <sys/utsname.h>

#include <fstream>
#include <sstream>

#include "suite/measure/processor.hpp"

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

}  // namespace

int count_usable_processors() {
    cpu_set_t set;
    CPU_ZERO(&set);
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
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

}  // namespace assay::measure
