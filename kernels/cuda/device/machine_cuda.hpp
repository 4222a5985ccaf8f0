// machine.hpp for nvcc. The emulation's twin explains nothing twice: what a function does is said
// here.
#pragma once

#include <cuda_fp16.h>

#define ASSAY_DEVICE __device__ __forceinline__
/// A kernel of `threads` per block, of which `blocks` must fit on a multiprocessor.
#define ASSAY_KERNEL(threads, blocks) __global__ void __launch_bounds__(threads, blocks)
/// Parameters that the kernel reads where the launch put them.
#define ASSAY_PARAMETER const __grid_constant__

namespace assay::kernels::cuda {

struct Place {
    int x, y, z;
};
ASSAY_DEVICE int thread_index() { return static_cast<int>(threadIdx.x); }
ASSAY_DEVICE Place block_index() {
    return {static_cast<int>(blockIdx.x), static_cast<int>(blockIdx.y),
            static_cast<int>(blockIdx.z)};
}
ASSAY_DEVICE Place blocks_in_grid() {
    return {static_cast<int>(gridDim.x), static_cast<int>(gridDim.y), static_cast<int>(gridDim.z)};
}

/// Waits for every thread of the block; what they wrote before is seen after.
ASSAY_DEVICE void block_barrier() { __syncthreads(); }

/// Each value summed over the warp's lanes, the same in every lane.
template <int count>
ASSAY_DEVICE void warp_sum(float (&values)[count]) {
#pragma unroll
    for (int i = 0; i < count; ++i) {
#pragma unroll
        for (int distance = lanes / 2; distance > 0; distance /= 2)
            values[i] += __shfl_xor_sync(0xffffffffu, values[i], distance);
    }
}
/// Bit i: lane i's condition.
ASSAY_DEVICE std::uint32_t warp_ballot(bool condition) {
    return __ballot_sync(0xffffffffu, condition);
}
ASSAY_DEVICE int bits_set(std::uint32_t bits) { return __popc(bits); }

/// The memory that the launch asked for, per block.
ASSAY_DEVICE float* block_memory() {
    extern __shared__ Floats4 shared[];
    return reinterpret_cast<float*>(shared);
}

/// A read that will not be repeated: the caches should keep other things.
ASSAY_DEVICE Words4 load_once(const void* from) {
    const uint4 words = __ldcs(static_cast<const uint4*>(from));
    return {{words.x, words.y, words.z, words.w}};
}
/// Four floats of block memory.
ASSAY_DEVICE Floats4 load_floats4(const float* from) {
    const float4 floats = *reinterpret_cast<const float4*>(from);
    return {{floats.x, floats.y, floats.z, floats.w}};
}
/// What other blocks of this launch wrote before they reported through the fence and count below.
ASSAY_DEVICE float load_of_other_block(const float* from) { return __ldcg(from); }
ASSAY_DEVICE std::uint8_t load_of_other_block(const std::uint8_t* from) { return __ldcg(from); }
ASSAY_DEVICE void fence_between_blocks() { __threadfence(); }
/// Adds one to a counter of all blocks; the value it had.
ASSAY_DEVICE int count_one(int* counter) { return atomicAdd(counter, 1); }

// Launches may overlap (CudaMachine): a kernel may start when all blocks of the one before have
// allowed it, and must wait before it touches what that one reads or writes. Elsewhere both do
// nothing.
/// Waits until the kernel before is over and all it wrote can be seen.
ASSAY_DEVICE void wait_for_previous_kernel() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
/// Only after wait_for_previous_kernel(): then the next kernel's wait covers all kernels before.
ASSAY_DEVICE void allow_next_kernel() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/// Asks for the cache line that holds `from`; no more than a hint.
ASSAY_DEVICE void prefetch(const void* from) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(from));
}

ASSAY_DEVICE float from_bits(std::uint32_t bits) { return __uint_as_float(bits); }
/// IEEE 754 binary16 in the low half of `bits`.
ASSAY_DEVICE float from_half_bits(std::uint32_t bits) {
    return __half2float(__ushort_as_half(static_cast<unsigned short>(bits)));
}

}  // namespace assay::kernels::cuda
