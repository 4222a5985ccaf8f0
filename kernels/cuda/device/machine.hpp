// The few things of a GPU that the kernels use, under names of their own. nvcc gets the
// instructions; a host compiler gets the emulation, so that tests run the kernels' very source on a
// processor.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::kernels::cuda {

constexpr int lanes = 32;  ///< of a warp

/// 16 bytes, as one memory access moves them.
struct alignas(16) Words4 {
    std::uint32_t word[4];
};
struct alignas(16) Floats4 {
    float value[4];
};

}  // namespace assay::kernels::cuda

#ifdef __CUDACC__
#include "kernels/cuda/device/machine_cuda.hpp"
#else
#include "kernels/cuda/emulation/machine_emulated.hpp"
#endif
