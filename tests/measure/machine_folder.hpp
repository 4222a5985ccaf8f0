// A folder that stands in for "/": a machine made of the files a test puts there.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/base/temporary_folder.hpp"

namespace assay::testing {

class MachineFolder {
  public:
    const std::filesystem::path& path() const { return folder_.path(); }
    void put(const std::string& name, const std::string& text) const {
        std::filesystem::create_directories((path() / name).parent_path());
        std::ofstream(path() / name) << text;
    }
    void remove(const std::string& name) const { std::filesystem::remove_all(path() / name); }

    /// Two cores of a server with all sensors, at 3 of 3.1 GHz.
    void put_server() const {
        for (const std::string cpu : {"cpu0", "cpu1"}) {
            const std::string folder = "sys/devices/system/cpu/" + cpu + "/";
            put(folder + "cpufreq/scaling_cur_freq", cpu == "cpu0" ? "800000\n" : "3000000\n");
            put(folder + "cpufreq/base_frequency", "3100000\n");
            put(folder + "cpufreq/cpuinfo_max_freq", "4200000\n");
            put(folder + "cpufreq/scaling_max_freq", "4200000\n");
            put(folder + "cpufreq/scaling_governor", "performance\n");
            put(folder + "thermal_throttle/core_throttle_count", "5\n");
        }
        put("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
        put("sys/class/hwmon/hwmon0/name", "nvme\n");
        put("sys/class/hwmon/hwmon0/temp1_input", "99000\n");
        put("sys/class/hwmon/hwmon1/name", "coretemp\n");
        put("sys/class/hwmon/hwmon1/temp1_input", "61000\n");
        put("sys/class/hwmon/hwmon1/temp3_input", "64500\n");
        put("sys/class/powercap/intel-rapl:0/name", "package-0\n");
        put("sys/class/powercap/intel-rapl:0/energy_uj", "1000000\n");
        put("sys/class/powercap/intel-rapl:0/max_energy_range_uj", "262143000000\n");
        put("sys/class/powercap/intel-rapl:0:0/energy_uj", "77\n");
        put("sys/class/powercap/intel-rapl:1/name", "psys\n");
        put("sys/class/powercap/intel-rapl:1/energy_uj", "5000000\n");
        put("proc/stat", "cpu  1000 100 200 5000 50 5 10 30 7 0\ncpu0 1 2 3\n");
        put("proc/self/cgroup", "0::/box/inner\n");
        put("sys/fs/cgroup/box/inner/cpu.stat", "usage_usec 9\nthrottled_usec 1500000\n");
        put("sys/fs/cgroup/box/cpu.stat", "usage_usec 9\nthrottled_usec 250000\n");
        put("sys/fs/cgroup/cpu.stat", "usage_usec 9\n");
        put("proc/meminfo",
            "MemTotal: 16000000 kB\nMemAvailable: 12000000 kB\nSwapTotal: 4000000 kB\n"
            "SwapFree: 4000000 kB\n");
        put("proc/loadavg", "0.10 0.10 0.10 1/100 999\n");
        put("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu vme\n\nprocessor\t: 1\n\n");
        put("proc/sys/kernel/randomize_va_space", "2\n");
        put("proc/sys/kernel/numa_balancing", "0\n");
        put("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
        put("sys/devices/system/node/node0/cpulist", "0-1\n");
    }

  private:
    TemporaryFolder folder_;
};

}  // namespace assay::testing
