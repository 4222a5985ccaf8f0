#include "suite/measure/gpus.hpp"

namespace assay::measure {

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

}  // namespace assay::measure
