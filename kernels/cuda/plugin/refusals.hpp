// Why a call failed, kept in the context.
#pragma once

#include <cuda_runtime.h>

#include <string>
#include <utility>

#include "kernels/assay_kernels.h"
#include "kernels/cuda/plugin/context.hpp"

namespace assay::kernels::cuda {

inline AssayStatus refuse(AssayContext& context, AssayStatus status, std::string why) {
    context.error = std::move(why);
    return status;
}
inline AssayStatus device_error(AssayContext& context, const char* call, cudaError_t error) {
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

}  // namespace assay::kernels::cuda
