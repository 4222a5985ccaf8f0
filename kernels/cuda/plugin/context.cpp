#include "kernels/cuda/plugin/context.hpp"

#include <cstdlib>
#include <memory>
#include <new>
#include <string_view>

#include "kernels/cuda/host/settings.hpp"

namespace assay::kernels::cuda {
namespace {

constexpr int least_major = 8;        // the oldest machine code in the plug-in
constexpr int overlapping_major = 9;  // griddepcontrol's first
#ifdef ASSAY_CUDA_WARPGROUP_CODE
constexpr int warpgroup_major = 9;  // wgmma's only
#else
constexpr int warpgroup_major = -1;  // the plug-in has no code for it
#endif

int attribute(cudaDeviceAttr which, int device) {
    int value = 0;
    return cudaDeviceGetAttribute(&value, which, device) == cudaSuccess ? value : 0;
}

bool overlap_is_wanted() {
    const char* const value = std::getenv("ASSAY_CUDA_OVERLAP");
    return !value || std::string_view(value) != "0";
}

struct DestroyContext {
    void operator()(AssayContext* context) const { destroy_context(context); }
};

/// Clears the counters on the context's own stream, so that no other stream is waited for.
cudaError_t make_counters(AssayContext& context) {
    constexpr std::size_t bytes = counters * sizeof(int);
    if (const cudaError_t error = cudaMalloc(&context.counters, bytes); error != cudaSuccess)
        return error;
    if (const cudaError_t error = cudaMemsetAsync(context.counters, 0, bytes, context.stream);
        error != cudaSuccess)
        return error;
    return cudaStreamSynchronize(context.stream);
}

cudaError_t make_timing(AssayContext& context) {
    for (cudaEvent_t* const event : {&context.began, &context.ended})
        if (const cudaError_t error = cudaEventCreate(event); error != cudaSuccess) return error;
    return cudaMalloc(&context.sink, sizeof *context.sink);
}

}  // namespace

CurrentDevice::CurrentDevice(int device) {
    error_ = cudaGetDevice(&before_);
    if (error_ != cudaSuccess) before_ = -1;
    if (error_ == cudaSuccess && before_ != device)
        error_ = cudaSetDevice(device);
    else
        before_ = -1;
}

CurrentDevice::~CurrentDevice() {
    if (before_ >= 0) cudaSetDevice(before_);
}

AssayContext* create_context(int device, cudaStream_t stream) {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || device < 0 || device >= devices)
        return nullptr;
    const int major = attribute(cudaDevAttrComputeCapabilityMajor, device);
    if (major < least_major) return nullptr;
    const CurrentDevice current(device);
    if (current.error() != cudaSuccess) return nullptr;

    std::unique_ptr<AssayContext, DestroyContext> context(new (std::nothrow) AssayContext);
    if (!context) return nullptr;
    context->device_index = device;
    context->device.multiprocessors = attribute(cudaDevAttrMultiProcessorCount, device);
    context->device.warpgroups = major == warpgroup_major;
    context->device =
        with_settings(context->device, [](const char* variable) { return std::getenv(variable); });
    context->most_block_memory = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    context->overlap = major >= overlapping_major && overlap_is_wanted();
    context->stream = stream;
    if (!stream) {
        if (cudaStreamCreateWithFlags(&context->stream, cudaStreamNonBlocking) != cudaSuccess)
            return nullptr;
        context->owns_stream = true;
    }
    if (make_counters(*context) != cudaSuccess) return nullptr;
    if (make_timing(*context) != cudaSuccess) return nullptr;
    return context.release();
}

void destroy_context(AssayContext* context) {
    if (!context) return;
    {
        const CurrentDevice current(context->device_index);
        if (context->counters) {
            cudaStreamSynchronize(context->stream);
            cudaFree(context->counters);
        }
        cudaFree(context->sink);
        for (const cudaEvent_t event : {context->began, context->ended})
            if (event) cudaEventDestroy(event);
        if (context->owns_stream) cudaStreamDestroy(context->stream);
    }
    delete context;
}

}  // namespace assay::kernels::cuda
