// The few entry points of libnvidia-ml that name the GPUs; its header is not part of the toolkit,
// so the prototypes are declared here.
#include "suite/measure/gpus.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <memory>

namespace assay::measure {
namespace {

using Device = void*;
struct MemoryInfo {  // nvmlMemory_t
    unsigned long long total, free, used;
};
constexpr int success = 0;
constexpr unsigned name_bytes = 96;

struct Library {
    using Handle = std::unique_ptr<void, int (*)(void*)>;
    Handle handle;
    int (*init)();
    int (*shutdown)();
    int (*driver_version)(char*, unsigned);
    int (*device_count)(unsigned*);
    int (*device_by_index)(unsigned, Device*);
    int (*device_name)(Device, char*, unsigned);
    int (*device_memory)(Device, MemoryInfo*);

    explicit Library(const char* file) : handle(dlopen(file, RTLD_NOW | RTLD_LOCAL), dlclose) {
        if (!handle) return;
        bind(init, "nvmlInit_v2");
        bind(shutdown, "nvmlShutdown");
        bind(driver_version, "nvmlSystemGetDriverVersion");
        bind(device_count, "nvmlDeviceGetCount_v2");
        bind(device_by_index, "nvmlDeviceGetHandleByIndex_v2");
        bind(device_name, "nvmlDeviceGetName");
        bind(device_memory, "nvmlDeviceGetMemoryInfo");
    }

    bool complete = true;

  private:
    template <class Function>
    void bind(Function*& entry, const char* symbol) {
        entry = reinterpret_cast<Function*>(dlsym(handle.get(), symbol));
        complete = complete && entry != nullptr;
    }
};

}  // namespace

Gpus read_gpus(const char* file) {
    Gpus found;
    const Library nvml(file);
    if (!nvml.handle) return found;
    if (!nvml.complete) {
        found.reason = fmt::format("{} lacks entry points; its driver is too old", file);
        return found;
    }
    if (const int error = nvml.init(); error != success) {
        found.reason = fmt::format("{} is there but does not start (NVML error {})", file, error);
        return found;
    }
    std::array<char, name_bytes> text{};
    if (nvml.driver_version(text.data(), text.size()) == success) found.driver = text.data();
    unsigned count = 0;
    nvml.device_count(&count);
    for (unsigned i = 0; i < count; ++i) {
        Device device = nullptr;
        MemoryInfo memory{};
        Gpu gpu;
        if (nvml.device_by_index(i, &device) != success) continue;
        text.fill('\0');
        if (nvml.device_name(device, text.data(), text.size()) == success) gpu.name = text.data();
        if (nvml.device_memory(device, &memory) == success) gpu.memory_bytes = memory.total;
        found.devices.push_back(std::move(gpu));
    }
    nvml.shutdown();
    return found;
}

}  // namespace assay::measure
