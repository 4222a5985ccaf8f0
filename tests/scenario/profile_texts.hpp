// Profiles as text, for tests that change one line of them.
#pragma once

#include <string>

namespace assay::testing {

inline std::string sourced(const std::string& key, const std::string& value) {
    return key + " = { value = " + value + ", kind = 'assumed', source = 'a test' }\n";
}

/// Its numbers begin at line 3; `launch` stands for the last of them.
inline std::string device_text(const std::string& launch = sourced("launch_s", "0.5")) {
    return "id = 'd'\nsays = 'a device'\n" + sourced("matmul_flops", "100.0") +
           sourced("matmul_efficiency", "0.5") + sourced("memory_bytes", "1000") +
           sourced("memory_bandwidth", "40.0") + sourced("memory_efficiency", "0.25") + launch;
}

inline std::string cluster_text(const std::string& devices = "devices = ['d']\n",
                                const std::string& latency = sourced("link_latency_s", "3")) {
    return "id = 'c'\nsays = 'a cluster'\n" + devices + sourced("link_bandwidth", "20") +
           sourced("link_efficiency", "0.5") + latency + sourced("storage_bandwidth", "8") +
           sourced("detect_s", "1") + sourced("regroup_s", "2") + sourced("relaunch_s", "4");
}

/// A [[network.link]] of five lines: what it reaches is its bandwidth.
inline std::string link_text(const std::string& name, const std::string& bandwidth,
                             const std::string& latency) {
    return "[[network.link]]\nname = '" + name + "'\n" + sourced("bandwidth", bandwidth) +
           sourced("efficiency", "1") + sourced("latency_s", latency);
}

}  // namespace assay::testing
