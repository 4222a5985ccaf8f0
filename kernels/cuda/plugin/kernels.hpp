// The Machine of device/launches.hpp that launches on a stream. For .cu files.
#pragma once

#include <cuda_runtime.h>

#include "kernels/assay_kernels.h"
#include "kernels/cuda/host/launch_plan.hpp"

namespace assay::kernels::cuda {

class CudaMachine {
  public:
    /// overlap: kernels may start while the one before on the stream comes to its end.
    CudaMachine(const Device& device, cudaStream_t stream, int* counters, bool overlap)
        : device_(device), stream_(stream), counters_(counters), overlap_(overlap) {}

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
        cudaLaunchAttribute attribute{};
        attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attribute.val.programmaticStreamSerializationAllowed = 1;
        cudaLaunchConfig_t config{};
        config.gridDim = dim3(static_cast<unsigned>(launch.x), static_cast<unsigned>(launch.y),
                              static_cast<unsigned>(launch.z));
        config.blockDim = dim3(static_cast<unsigned>(launch.threads));
        config.dynamicSmemBytes = launch.memory_bytes;
        config.stream = stream_;
        config.attrs = &attribute;
        config.numAttrs = overlap_ ? 1 : 0;
        error_ = cudaLaunchKernelEx(&config, kernel, parameters...);
    }
#endif

  private:
    Device device_;
    cudaStream_t stream_;
    int* counters_;
    bool overlap_;
    cudaError_t error_ = cudaSuccess;
};

// The launches, one .cu file each: nvcc is slow. Calls are checked already; errors stay in the
// machine.

void gemv(CudaMachine& machine, const AssayGemv& call);
void router(CudaMachine& machine, const AssayRouter& call);
/// The activations of the active neurons, into the workspace.
void gate_up(CudaMachine& machine, const AssaySparseFfn& call);
/// What they add to the output.
void down(CudaMachine& machine, const AssaySparseFfn& call);

}  // namespace assay::kernels::cuda
