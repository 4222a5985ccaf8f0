#include "suite/cluster/nccl/cuda_runtime.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

namespace assay::cluster::nccl {
namespace {

constexpr const char* names[] = {"libcudart.so.13", "libcudart.so.12"};

FoundRuntime from_runtime(void* handle, const std::string& file) {
    auto runtime = std::make_shared<CudaRuntime>();
    runtime->handle = handle;
    runtime->file = file;
    const char* missing = nullptr;
    const auto need = [&](auto& function, const char* symbol) {
        function =
            reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, symbol));
        if (!function && !missing) missing = symbol;
    };
    need(runtime->device_count, "cudaGetDeviceCount");
    need(runtime->set_device, "cudaSetDevice");
    need(runtime->error_string, "cudaGetErrorString");
    need(runtime->stream_create, "cudaStreamCreateWithFlags");
    need(runtime->stream_destroy, "cudaStreamDestroy");
    need(runtime->stream_query, "cudaStreamQuery");
    need(runtime->allocate, "cudaMalloc");
    need(runtime->release, "cudaFree");
    need(runtime->copy, "cudaMemcpyAsync");
    if (missing)
        return {nullptr, fmt::format("{} is no CUDA run time: it has no {}", file, missing)};
    int devices = 0;
    if (const int error = runtime->device_count(&devices); error != cuda_success || devices == 0)
        return {nullptr, fmt::format("there is no usable GPU: {}",
                                     error == cuda_success ? "the driver has none"
                                                           : runtime->error_string(error))};
    return {std::move(runtime), {}};
}

}  // namespace

CudaRuntime::~CudaRuntime() {
    if (handle) dlclose(handle);
}

FoundRuntime open_cuda_runtime(const std::string& file) {
    void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char* const error = dlerror();
        return {nullptr, error ? error : file + " cannot be loaded"};
    }
    return from_runtime(handle, file);
}

FoundRuntime find_cuda_runtime() {
    if (const char* const named = std::getenv("ASSAY_CUDART"); named && *named)
        return open_cuda_runtime(named);
    for (const char* const name : names)
        if (void* const loaded = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD))
            return from_runtime(loaded, name);
#ifdef ASSAY_WHEELS
    if (const std::string wheel = ASSAY_WHEELS "/cu13/lib/libcudart.so.13";
        std::filesystem::exists(wheel))
        return open_cuda_runtime(wheel);
#endif
    FoundRuntime found;
    for (const char* const name : names)
        if (found = open_cuda_runtime(name); found.runtime) return found;
    return found;
}

}  // namespace assay::cluster::nccl
