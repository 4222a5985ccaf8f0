// Two GPUs, one of which does not tell its memory. ASSAY_FAKE_NVML_ERROR makes it refuse to start.
#include <cstdlib>
#include <cstring>

extern "C" {
struct Memory {
    unsigned long long total, free, used;
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
    *count = 2;
    return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
    *device = reinterpret_cast<void*>(static_cast<unsigned long>(index + 1));
    return 0;
}
int nvmlDeviceGetName(void* device, char* text, unsigned bytes) {
    std::strncpy(text, device == reinterpret_cast<void*>(1ul) ? "NVIDIA H200" : "NVIDIA T4", bytes);
    return 0;
}
int nvmlDeviceGetMemoryInfo(void* device, Memory* memory) {
    if (device != reinterpret_cast<void*>(1ul)) return 3;
    memory->total = 150754820096ull;
    return 0;
}
}
