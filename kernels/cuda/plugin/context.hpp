// The CUDA back end's state behind AssayContext, and why a call failed.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <utility>

#include "kernels/assay_kernels.h"
#include "kernels/cuda/host/launch_plan.hpp"

namespace assay::kernels::cuda {

/// Kernels that have been allowed to ask for more block memory than every kernel may.
using AllowedKernels = std::unordered_set<const void*>;

}  // namespace assay::kernels::cuda

struct AssayContext {
    int device_index = 0;
    assay::kernels::cuda::Device device;
    cudaStream_t stream = nullptr;
    bool owns_stream = false;
    int* counters = nullptr;                       ///< device memory, zero between calls
    std::uint32_t* sink = nullptr;                 ///< of read_pass(), one word
    cudaEvent_t began = nullptr, ended = nullptr;  ///< of timing
    bool overlap = false;                          ///< CudaMachine's
    int most_block_memory = 0;                     ///< bytes that a block of the device can have
    assay::kernels::cuda::AllowedKernels allowed;  ///< CudaMachine's
    std::string error;                             ///< of the last call that failed
};

namespace assay::kernels::cuda {

/// Makes a device the calling thread's, and at the end the one it had before.
class CurrentDevice {
  public:
    explicit CurrentDevice(int device);
    ~CurrentDevice();
    CurrentDevice(const CurrentDevice&) = delete;
    CurrentDevice& operator=(const CurrentDevice&) = delete;
    cudaError_t error() const { return error_; }

  private:
    int before_ = -1;
    cudaError_t error_;
};

/// Null where the device does not exist, is older than compute capability 8.0 or has no memory.
/// stream: null for one of its own. Launches overlap where the device can (compute capability 9.0),
/// unless the environment variable ASSAY_CUDA_OVERLAP is 0.
AssayContext* create_context(int device, cudaStream_t stream);
void destroy_context(AssayContext* context);

// Why a call failed, kept in the context.

inline AssayStatus refuse(AssayContext& context, AssayStatus status, std::string why) {
    context.error = std::move(why);
    return status;
}
inline AssayStatus device_error(AssayContext& context, const char* call, cudaError_t error) {
    static_cast<void>(cudaGetLastError());  // told here: no later call of the process' others may
                                            // take it for its own
    return refuse(
        context, ASSAY_DEVICE_ERROR,
        std::string(call) + ": " + cudaGetErrorName(error) + ", " + cudaGetErrorString(error));
}

/// Runs `body`, which returns a cudaError_t, on the context's device.
template <class Body>
AssayStatus on_device(AssayContext* context, const char* call, const Body& body) {
    if (!context) return ASSAY_BAD_ARGUMENT;
    const CurrentDevice current(context->device_index);
    if (current.error() != cudaSuccess) return device_error(*context, call, current.error());
    const cudaError_t error = body();
    return error == cudaSuccess ? ASSAY_OK : device_error(*context, call, error);
}

// Memory, copies, the read pass, time and recordings (CUDA graphs) of the CUDA back end. Meaning:
// kernels/assay_kernels.h.

void* allocate(AssayContext* context, std::size_t bytes);
void release(AssayContext* context, void* memory);
AssayStatus upload(AssayContext* context, void* to, const void* from, std::size_t bytes);
AssayStatus download(AssayContext* context, void* to, const void* from, std::size_t bytes);
AssayStatus copy(AssayContext* context, void* to, const void* from, std::size_t bytes);
AssayStatus gather(AssayContext* context, void* to, const void* from, const std::int32_t* ids,
                   std::int32_t count, std::size_t piece_bytes);
AssayStatus read_pass(AssayContext* context, const void* from, std::size_t bytes);
AssayStatus begin_timing(AssayContext* context);
AssayStatus end_timing(AssayContext* context, double* seconds);

// Calls recorded as a CUDA graph. Meaning: kernels/assay_kernels.h.

AssayStatus begin_recording(AssayContext* context);
AssayStatus end_recording(AssayContext* context, AssayRecording** recording);
AssayStatus replay(AssayContext* context, AssayRecording* recording);
void destroy_recording(AssayContext* context, AssayRecording* recording);

// Parts of a device. Meaning: kernels/assay_kernels.h.

AssayStatus divide(AssayContext* context, AssayPart* parts, std::int32_t count,
                   AssayDivision** division);
void reunite(AssayContext* context, AssayDivision* division);

}  // namespace assay::kernels::cuda
