#include "suite/measure/hardware/nvml.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>

namespace assay::measure {

// What the library's functions fill in. Of a named namespace, as the class that names them is:
// g++ 13.3 fails on one that has members of an unnamed one.
namespace nvml_types {
struct MemoryInfo {  // nvmlMemory_t
    unsigned long long total, free, used;
};
struct Utilization {  // nvmlUtilization_t, percent
    unsigned gpu, memory;
};
struct ProcessInfo {  // nvmlProcessInfo_t of version 3 (and 2)
    unsigned pid;
    unsigned long long used_memory;
    unsigned gpu_instance, compute_instance;
};
}  // namespace nvml_types

namespace {

using nvml_types::MemoryInfo;
using nvml_types::ProcessInfo;
using nvml_types::Utilization;

constexpr int success = 0, size_too_small = 7;  // nvmlReturn_t
constexpr unsigned name_bytes = 96;
constexpr unsigned core_temperature = 0;         // NVML_TEMPERATURE_GPU
constexpr unsigned uncorrected_errors = 1;       // NVML_MEMORY_ERROR_TYPE_UNCORRECTED
constexpr unsigned since_driver_was_loaded = 0;  // NVML_VOLATILE_ECC

using Device = Nvml::Device;

}  // namespace

const char* nvml_library() {
    const char* other = std::getenv("ASSAY_NVML");
    return other != nullptr ? other : "libnvidia-ml.so.1";
}

struct Nvml::Entries {
    std::unique_ptr<void, int (*)(void*)> handle;
    bool complete = true, running = false;
    int (*init)() = nullptr;
    int (*shutdown)() = nullptr;
    int (*driver_version)(char*, unsigned) = nullptr;
    int (*device_count)(unsigned*) = nullptr;
    int (*device_by_index)(unsigned, Device*) = nullptr;
    int (*device_name)(Device, char*, unsigned) = nullptr;
    int (*device_memory)(Device, MemoryInfo*) = nullptr;
    // Only drivers and devices of some kinds have these.
    int (*clock)(Device, unsigned, unsigned*) = nullptr;
    int (*most_clock)(Device, unsigned, unsigned*) = nullptr;
    int (*default_clock)(Device, unsigned, unsigned*) = nullptr;
    int (*temperature)(Device, unsigned, unsigned*) = nullptr;
    int (*power)(Device, unsigned*) = nullptr;
    int (*power_limit)(Device, unsigned*) = nullptr;
    int (*default_power_limit)(Device, unsigned*) = nullptr;
    int (*persistence)(Device, unsigned*) = nullptr;
    int (*lanes)(Device, unsigned*) = nullptr;
    int (*most_lanes)(Device, unsigned*) = nullptr;
    int (*utilization)(Device, Utilization*) = nullptr;
    int (*event_reasons)(Device, unsigned long long*) = nullptr;
    int (*ecc)(Device, unsigned*, unsigned*) = nullptr;
    int (*mig)(Device, unsigned*, unsigned*) = nullptr;
    int (*ecc_errors)(Device, unsigned, unsigned, unsigned long long*) = nullptr;
    int (*processes)(Device, unsigned*, ProcessInfo*) = nullptr;

    explicit Entries(const char* file) : handle(dlopen(file, RTLD_NOW | RTLD_LOCAL), dlclose) {
        if (!handle) return;
        need(init, "nvmlInit_v2");
        need(shutdown, "nvmlShutdown");
        need(driver_version, "nvmlSystemGetDriverVersion");
        need(device_count, "nvmlDeviceGetCount_v2");
        need(device_by_index, "nvmlDeviceGetHandleByIndex_v2");
        need(device_name, "nvmlDeviceGetName");
        need(device_memory, "nvmlDeviceGetMemoryInfo");
        find(clock, "nvmlDeviceGetClockInfo");
        find(most_clock, "nvmlDeviceGetMaxClockInfo");
        find(default_clock, "nvmlDeviceGetDefaultApplicationsClock");
        find(temperature, "nvmlDeviceGetTemperature");
        find(power, "nvmlDeviceGetPowerUsage");
        find(power_limit, "nvmlDeviceGetEnforcedPowerLimit");
        find(default_power_limit, "nvmlDeviceGetPowerManagementDefaultLimit");
        find(persistence, "nvmlDeviceGetPersistenceMode");
        find(utilization, "nvmlDeviceGetUtilizationRates");
        find(event_reasons, "nvmlDeviceGetCurrentClocksEventReasons");
        // The name before driver 535.
        if (event_reasons == nullptr)
            find(event_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
        find(ecc, "nvmlDeviceGetEccMode");
        find(mig, "nvmlDeviceGetMigMode");
        find(ecc_errors, "nvmlDeviceGetTotalEccErrors");
        find(lanes, "nvmlDeviceGetCurrPcieLinkWidth");
        find(most_lanes, "nvmlDeviceGetMaxPcieLinkWidth");
        find(processes, "nvmlDeviceGetComputeRunningProcesses_v3");
    }
    ~Entries() {
        if (running) shutdown();
    }

  private:
    template <class Function>
    void find(Function*& entry, const char* symbol) {
        entry = reinterpret_cast<Function*>(dlsym(handle.get(), symbol));
    }
    template <class Function>
    void need(Function*& entry, const char* symbol) {
        find(entry, symbol);
        complete = complete && entry != nullptr;
    }
};

namespace {

/// What an entry point writes behind its last argument.
template <class Value, class Function, class... Arguments>
std::optional<Value> asked(Function* entry, Arguments... arguments) {
    Value value{};
    if (entry == nullptr || entry(arguments..., &value) != success) return std::nullopt;
    return value;
}

std::optional<double> scaled(const std::optional<unsigned>& value, double unit) {
    if (!value) return std::nullopt;
    return *value * unit;
}

std::optional<Nvml::Setting> setting(int (*entry)(Device, unsigned*, unsigned*), Device device) {
    unsigned now = 0, after_reset = 0;
    if (entry == nullptr || entry(device, &now, &after_reset) != success) return std::nullopt;
    return Nvml::Setting{now != 0, after_reset != 0};
}

}  // namespace

Nvml::Nvml(const char* file) : entries_(std::make_unique<Entries>(file)) {
    if (!entries_->handle) {
        entries_.reset();
        return;
    }
    if (!entries_->complete) {
        reason_ = fmt::format("{} lacks entry points; its driver is too old", file);
        entries_.reset();
    } else if (const int error = entries_->init(); error != success) {
        reason_ = fmt::format("{} is there but does not start (NVML error {})", file, error);
        entries_.reset();
    } else {
        entries_->running = true;
    }
}

Nvml::~Nvml() = default;
Nvml::Nvml(Nvml&&) noexcept = default;
Nvml& Nvml::operator=(Nvml&&) noexcept = default;

bool Nvml::started() const { return entries_ != nullptr; }

std::string Nvml::driver() const {
    std::array<char, name_bytes> text{};
    if (!entries_ || entries_->driver_version(text.data(), text.size()) != success) return {};
    return text.data();
}

std::map<unsigned, Nvml::Device> Nvml::devices_by_index() const {
    std::map<unsigned, Device> found;
    if (!entries_) return found;
    const unsigned count = asked<unsigned>(entries_->device_count).value_or(0);
    for (unsigned i = 0; i < count; ++i)
        if (const auto device = asked<Device>(entries_->device_by_index, i))
            found.emplace(i, *device);
    return found;
}

std::vector<Nvml::Device> Nvml::devices() const {
    std::vector<Device> found;
    for (const auto& [index, device] : devices_by_index()) found.push_back(device);
    return found;
}

std::string Nvml::name(Device device) const {
    std::array<char, name_bytes> text{};
    if (entries_->device_name(device, text.data(), text.size()) != success) return {};
    return text.data();
}

std::optional<std::uint64_t> Nvml::memory_bytes(Device device) const {
    const auto memory = asked<MemoryInfo>(entries_->device_memory, device);
    return memory ? std::optional<std::uint64_t>(memory->total) : std::nullopt;
}

std::optional<double> Nvml::clock_hz(Device device, Clock which) const {
    return scaled(asked<unsigned>(entries_->clock, device, static_cast<unsigned>(which)), 1e6);
}

std::optional<double> Nvml::most_clock_hz(Device device, Clock which) const {
    return scaled(asked<unsigned>(entries_->most_clock, device, static_cast<unsigned>(which)), 1e6);
}

std::optional<double> Nvml::default_clock_hz(Device device, Clock which) const {
    return scaled(asked<unsigned>(entries_->default_clock, device, static_cast<unsigned>(which)),
                  1e6);
}

std::optional<double> Nvml::temperature_c(Device device) const {
    return scaled(asked<unsigned>(entries_->temperature, device, core_temperature), 1);
}

std::optional<double> Nvml::power_w(Device device) const {
    return scaled(asked<unsigned>(entries_->power, device), 1e-3);
}

std::optional<double> Nvml::power_limit_w(Device device) const {
    return scaled(asked<unsigned>(entries_->power_limit, device), 1e-3);
}

std::optional<double> Nvml::default_power_limit_w(Device device) const {
    return scaled(asked<unsigned>(entries_->default_power_limit, device), 1e-3);
}

std::optional<double> Nvml::busy_share(Device device) const {
    const auto percent = asked<Utilization>(entries_->utilization, device);
    return percent ? std::optional<double>(percent->gpu / 100.0) : std::nullopt;
}

std::optional<std::uint64_t> Nvml::event_reasons(Device device) const {
    return asked<unsigned long long>(entries_->event_reasons, device);
}

std::optional<bool> Nvml::persistent(Device device) const {
    const auto mode = asked<unsigned>(entries_->persistence, device);
    return mode ? std::optional<bool>(*mode != 0) : std::nullopt;
}

std::optional<Nvml::Lanes> Nvml::link_lanes(Device device) const {
    const auto now = asked<unsigned>(entries_->lanes, device),
               most = asked<unsigned>(entries_->most_lanes, device);
    return now && most ? std::optional<Lanes>({*now, *most}) : std::nullopt;
}

std::optional<Nvml::Setting> Nvml::ecc(Device device) const {
    return setting(entries_->ecc, device);
}

std::optional<Nvml::Setting> Nvml::mig(Device device) const {
    return setting(entries_->mig, device);
}

std::optional<std::uint64_t> Nvml::memory_errors(Device device) const {
    return asked<unsigned long long>(entries_->ecc_errors, device, uncorrected_errors,
                                     since_driver_was_loaded);
}

std::optional<std::vector<unsigned>> Nvml::computing_processes(Device device) const {
    if (entries_->processes == nullptr) return std::nullopt;
    std::vector<ProcessInfo> rows(64);
    int error = size_too_small;
    unsigned count = 0;
    // Processes may come between two questions.
    for (int trial = 0; trial < 4 && error == size_too_small; ++trial) {
        count = static_cast<unsigned>(rows.size());
        error = entries_->processes(device, &count, rows.data());
        if (error == size_too_small) rows.resize(count + 16);
    }
    if (error != success) return std::nullopt;
    std::vector<unsigned> pids;
    for (unsigned i = 0; i < count; ++i) pids.push_back(rows[i].pid);
    return pids;
}

}  // namespace assay::measure
