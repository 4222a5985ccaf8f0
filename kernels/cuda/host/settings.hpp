// Sizes of a plan that the environment replaces, to measure what they are worth.
#pragma once

#include <functional>

#include "kernels/cuda/host/launch_plan.hpp"

namespace assay::kernels::cuda {

/// Gives the value of an environment variable, or null: std::getenv.
using Environment = std::function<const char*(const char* variable)>;

/// The device with what ASSAY_CUDA_PREFETCH_MB, …_DOWN_PREFETCH_MB, …_PREFETCH_NEXT,
/// …_WARPS_OF_ROW, …_ROUTER_BLOCKS, …_PERSISTENT, …_TENSOR_CORES and …_WARPGROUPS say. A number
/// that kernels cannot use becomes the nearest that they can; what is no whole number is left out.
Device with_settings(Device device, const Environment& environment);

}  // namespace assay::kernels::cuda
