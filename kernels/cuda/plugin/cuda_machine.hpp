// The Machine of device/launches.hpp that launches on a stream. For .cu files.
#pragma once

#include <cuda_runtime.h>

#include "kernels/cuda/host/launch_plan.hpp"

namespace assay::kernels::cuda {

class CudaMachine {
  public:
    CudaMachine(const Device& device, cudaStream_t stream, int* counters)
        : device_(device), stream_(stream), counters_(counters) {}

    const Device& device() const { return device_; }
    int* counters() const { return counters_; }
    /// Of the first launch that failed; those after it are left out.
    cudaError_t error() const { return error_; }

#ifdef __CUDACC__
    template <class... Parameters>
    void launch(void (*kernel)(Parameters...), const Launch& launch,
                const std::remove_const_t<Parameters>&... parameters) {
        if (error_ != cudaSuccess) return;
        constexpr std::size_t always_allowed = 48 * 1024;
        if (launch.memory_bytes > always_allowed) {
            error_ = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          static_cast<int>(launch.memory_bytes));
            if (error_ != cudaSuccess) return;
        }
        const dim3 blocks(static_cast<unsigned>(launch.x), static_cast<unsigned>(launch.y),
                          static_cast<unsigned>(launch.z));
        kernel<<<blocks, static_cast<unsigned>(launch.threads), launch.memory_bytes, stream_>>>(
            parameters...);
        error_ = cudaGetLastError();
    }
#endif

  private:
    Device device_;
    cudaStream_t stream_;
    int* counters_;
    cudaError_t error_ = cudaSuccess;
};

}  // namespace assay::kernels::cuda
