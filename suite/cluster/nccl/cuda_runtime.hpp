// The few functions of CUDA's run time that a communicator needs, found at run time: streams,
// memory, copies. Libraries of several versions in one process share the device's context, so
// streams and memory of one serve the other.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace assay::cluster::nccl {

// cudaError_t
constexpr int cuda_success = 0, cuda_not_ready = 600;
constexpr int copy_between_any = 4;         // cudaMemcpyDefault
constexpr unsigned stream_independent = 1;  // cudaStreamNonBlocking

struct CudaRuntime {
    std::string file;
    int (*device_count)(int*) = nullptr;
    int (*set_device)(int) = nullptr;
    const char* (*error_string)(int) = nullptr;
    int (*stream_create)(void** stream, unsigned flags) = nullptr;
    int (*stream_destroy)(void* stream) = nullptr;
    int (*stream_query)(void* stream) = nullptr;
    int (*allocate)(void** memory, std::size_t bytes) = nullptr;
    int (*release)(void* memory) = nullptr;
    int (*copy)(void* to, const void* from, std::size_t bytes, int kind, void* stream) = nullptr;

    CudaRuntime() = default;
    ~CudaRuntime();
    CudaRuntime(const CudaRuntime&) = delete;
    CudaRuntime& operator=(const CudaRuntime&) = delete;
    void* handle = nullptr;  ///< of the loader
};

struct FoundRuntime {
    std::shared_ptr<const CudaRuntime> runtime;
    std::string why_not;
};

/// The file that the environment variable ASSAY_CUDART names, or else libcudart.so.13 or .12: what
/// is loaded already, what lies where libtorch's wheel has it, what the loader finds. Without a
/// driver or a device: why not.
FoundRuntime find_cuda_runtime();
FoundRuntime open_cuda_runtime(const std::string& file);

}  // namespace assay::cluster::nccl
