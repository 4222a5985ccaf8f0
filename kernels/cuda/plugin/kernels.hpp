// The Machine of device/launches.hpp that launches on a stream. For .cu files.
#pragma once

#include <cuda_runtime.h>

#include "kernels/assay_kernels.h"
#include "kernels/cuda/host/launch_plan.hpp"
#include "kernels/cuda/plugin/context.hpp"

namespace assay::kernels::cuda {

class CudaMachine {
  public:
    explicit CudaMachine(AssayContext& context) : context_(context) {}

    const Device& device() const { return context_.device; }
    int* counters() const { return context_.counters; }
    /// Of the first launch that failed; those after it are left out.
    cudaError_t error() const { return error_; }

#ifdef __CUDACC__
    template <class... Parameters>
    void launch(void (*kernel)(Parameters...), const Launch& launch,
                const std::remove_const_t<Parameters>&... parameters) {
        if (error_ != cudaSuccess) return;
        constexpr std::size_t always_allowed = 48 * 1024;
        const void* const name = reinterpret_cast<const void*>(kernel);
        if (launch.memory_bytes > always_allowed && context_.allowed.count(name) == 0) {
            // All that the device has: contexts share the kernels, and what another one asks for
            // must not take from what this one needs.
            error_ = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          context_.most_block_memory);
            if (error_ != cudaSuccess) return;
            context_.allowed.insert(name);
        }
        // The kernel may start while the one before on the stream comes to its end.
        cudaLaunchAttribute attribute{};
        attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attribute.val.programmaticStreamSerializationAllowed = 1;
        cudaLaunchConfig_t config{};
        config.gridDim = dim3(static_cast<unsigned>(launch.x), static_cast<unsigned>(launch.y),
                              static_cast<unsigned>(launch.z));
        config.blockDim = dim3(static_cast<unsigned>(launch.threads));
        config.dynamicSmemBytes = launch.memory_bytes;
        config.stream = context_.stream;
        config.attrs = &attribute;
        config.numAttrs = context_.overlap ? 1 : 0;
        error_ = cudaLaunchKernelEx(&config, kernel, parameters...);
    }
#endif

  private:
    AssayContext& context_;
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

void schedule(CudaMachine& machine, const AssayDispatch& call);
void places(CudaMachine& machine, const AssayDispatch& call);
void shuffle(CudaMachine& machine, const AssayRowMove& call);
void unshuffle(CudaMachine& machine, const AssayRowMove& call);

void row_scores(CudaMachine& machine, const AssayRowScores& call);
void weight_gradient(CudaMachine& machine, const AssayWeightGradient& call);

}  // namespace assay::kernels::cuda
