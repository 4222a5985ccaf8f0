// Machines with GPUs that do not exist. ASSAY_FAKE_NVML_ERROR makes the library refuse to start;
// ASSAY_FAKE_NVML_MACHINE chooses:
//   (unset)    two GPUs at rest, the second of which tells nothing but its name
//   hot        one, busy, slowed by its temperature to 1.2 of 1.98 GHz
//   capped     one, busy, at its power cap but near its full clock
//   lost       two at rest, the first of which does not answer
//   neglected  one, idle, with everything that an administrator can have set wrongly
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

constexpr int success = 0, not_supported = 3, too_small = 7, fallen_off = 15;

std::string machine() {
    const char* name = std::getenv("ASSAY_FAKE_NVML_MACHINE");
    return name ? name : "";
}
/// The one that tells everything: the first that answers.
bool first(void* device) {
    return device == reinterpret_cast<void*>(machine() == "lost" ? 2ul : 1ul);
}

/// Writes what that device tells.
template <class Value>
int tell(void* device, Value* where, Value value) {
    if (!first(device)) return not_supported;
    *where = value;
    return success;
}

}  // namespace

extern "C" {
struct Memory {
    unsigned long long total, free, used;
};
struct Utilization {
    unsigned gpu, memory;
};
struct Process {
    unsigned pid;
    unsigned long long memory;
    unsigned gpu_instance, compute_instance;
};

int nvmlInit_v2() {
    const char* error = std::getenv("ASSAY_FAKE_NVML_ERROR");
    return error ? std::atoi(error) : 0;
}
int nvmlShutdown() { return 0; }
int nvmlSystemGetDriverVersion(char* text, unsigned bytes) {
    std::strncpy(text, "580.12", bytes);
    return 0;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
    *count = machine().empty() || machine() == "lost" ? 2 : 1;
    return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
    if (machine() == "lost" && index == 0) return fallen_off;
    *device = reinterpret_cast<void*>(static_cast<unsigned long>(index + 1));
    return 0;
}
int nvmlDeviceGetName(void* device, char* text, unsigned bytes) {
    std::strncpy(text, first(device) ? "NVIDIA H200" : "NVIDIA T4", bytes);
    return 0;
}
int nvmlDeviceGetMemoryInfo(void* device, Memory* memory) {
    if (!first(device)) return not_supported;
    memory->total = 150754820096ull;
    return 0;
}
int nvmlDeviceGetClockInfo(void* device, unsigned which, unsigned* mhz) {
    if (which == 2) return tell(device, mhz, 3201u);
    const std::string name = machine();
    return tell(device, mhz, name == "hot" ? 1200u : name == "capped" ? 1800u : 345u);
}
int nvmlDeviceGetMaxClockInfo(void* device, unsigned which, unsigned* mhz) {
    return tell(device, mhz, which == 2 ? 3201u : 1980u);
}
int nvmlDeviceGetTemperature(void* device, unsigned, unsigned* celsius) {
    return tell(device, celsius, machine() == "hot" ? 91u : 34u);
}
int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
    return tell(device, milliwatts, machine() == "capped" ? 700000u : 76500u);
}
int nvmlDeviceGetEnforcedPowerLimit(void* device, unsigned* milliwatts) {
    return tell(device, milliwatts, machine() == "neglected" ? 400000u : 700000u);
}
int nvmlDeviceGetPowerManagementDefaultLimit(void* device, unsigned* milliwatts) {
    return tell(device, milliwatts, 700000u);
}
int nvmlDeviceGetPersistenceMode(void* device, unsigned* on) {
    return tell(device, on, machine() == "neglected" ? 0u : 1u);
}
int nvmlDeviceGetCurrPcieLinkWidth(void* device, unsigned* lanes) {
    return tell(device, lanes, machine() == "neglected" ? 8u : 16u);
}
int nvmlDeviceGetMaxPcieLinkWidth(void* device, unsigned* lanes) {
    return tell(device, lanes, 16u);
}
int nvmlDeviceGetUtilizationRates(void* device, Utilization* rates) {
    const bool busy = machine() == "hot" || machine() == "capped";
    return tell(device, rates, Utilization{busy ? 97u : 0u, 10u});
}
// Under the name that drivers before 535 have.
int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* bits) {
    const std::string name = machine();
    return tell(device, bits, name == "hot" ? 0x20ull : name == "capped" ? 0x4ull : 0x1ull);
}
int nvmlDeviceGetEccMode(void* device, unsigned* now, unsigned* after_reset) {
    if (!first(device)) return not_supported;
    *now = 1;
    *after_reset = machine() == "neglected" ? 0 : 1;
    return success;
}
int nvmlDeviceGetMigMode(void* device, unsigned* now, unsigned* after_reset) {
    if (!first(device)) return not_supported;
    *now = *after_reset = machine() == "neglected" ? 1 : 0;
    return success;
}
int nvmlDeviceGetTotalEccErrors(void* device, unsigned kind, unsigned counter,
                                unsigned long long* errors) {
    if (kind != 1 || counter != 0) return not_supported;
    return tell(device, errors, machine() == "hot" ? 2ull : 0ull);
}
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, Process* rows) {
    if (!first(device)) return not_supported;
    const unsigned running = machine() == "neglected" ? 70 : 0;  // more than a first guess holds
    const bool fits = *count >= running;
    *count = running;
    if (!fits) return too_small;
    for (unsigned i = 0; i < running; ++i) rows[i] = {4000 + i, 1 << 20, 0, 0};
    return success;
}
}
