#include "suite/measure/hardware/hardware_monitor.hpp"

#include <chrono>
#include <cstdlib>

namespace assay::measure {
namespace {

double now_s() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

std::string gpu_name(unsigned index) { return "gpu" + std::to_string(index); }

}  // namespace

std::filesystem::path hardware_root() {
    const char* other = std::getenv("ASSAY_HARDWARE_ROOT");
    return other != nullptr ? other : "/";
}

HardwareMonitor::HardwareMonitor(const std::filesystem::path& root, const char* nvml_file)
    : sensors_(root), counter_files_(root), nvml_(nvml_file), gpus_(nvml_.devices_by_index()) {
    if (sensors_.reference_clock_hz()) references_["cpu"] = *sensors_.reference_clock_hz();
    for (const auto& [index, gpu] : gpus_) {
        auto hz = nvml_.default_clock_hz(gpu, Nvml::Clock::sm);
        if (!hz) hz = nvml_.most_clock_hz(gpu, Nvml::Clock::sm);
        if (hz && *hz > 0) references_[gpu_name(index)] = *hz;
    }
}

DeviceReading HardwareMonitor::read_cpu(double t_s, Phase phase) {
    DeviceReading reading;
    reading.t_s = t_s;
    reading.device = "cpu";
    reading.phase = phase;
    reading.clock_hz = sensors_.clock_hz();
    reading.temperature_c = sensors_.temperature_c();
    const CpuCounters counters = counter_files_.read();
    const double at_s = now_s();
    if (counted_) {
        const CpuCounters used = counters - counters_;
        const double passed_s = at_s - counted_at_s_;
        reading.elapsed_s = passed_s;
        reading.busy_s = used.busy_s;
        reading.steal_s = used.steal_s;
        reading.quota_s = used.quota_s;
        reading.thermal_events = used.thermal_events;
        if (used.busy_s && passed_s > 0) reading.busy = *used.busy_s / passed_s;
        if (used.energy_j && passed_s > 0) reading.power_w = *used.energy_j / passed_s;
    }
    counters_ = counters;
    counted_at_s_ = at_s;
    counted_ = true;
    return reading;
}

DeviceReading HardwareMonitor::read_gpu(unsigned index, Nvml::Device device, double t_s,
                                        Phase phase) const {
    DeviceReading reading;
    reading.t_s = t_s;
    reading.device = gpu_name(index);
    reading.phase = phase;
    reading.clock_hz = nvml_.clock_hz(device, Nvml::Clock::sm);
    reading.memory_clock_hz = nvml_.clock_hz(device, Nvml::Clock::memory);
    reading.temperature_c = nvml_.temperature_c(device);
    reading.power_w = nvml_.power_w(device);
    reading.throttles = throttles_of(nvml_.event_reasons(device).value_or(0));
    reading.busy = nvml_.busy_share(device);
    return reading;
}

std::vector<DeviceReading> HardwareMonitor::read(double t_s, Phase phase) {
    std::vector<DeviceReading> readings{read_cpu(t_s, phase)};
    for (const auto& [index, gpu] : gpus_) readings.push_back(read_gpu(index, gpu, t_s, phase));
    return readings;
}

}  // namespace assay::measure
