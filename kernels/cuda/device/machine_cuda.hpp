// machine.hpp for nvcc. The emulation's twin explains nothing twice: what a function does is said
// here.
#pragma once

#include <cuda_fp16.h>

#define ASSAY_DEVICE __device__ __forceinline__
/// A kernel of `threads` per block, of which `blocks` must fit on a multiprocessor.
#define ASSAY_KERNEL(threads, blocks) \
    [[maybe_unused]] static __global__ void __launch_bounds__(threads, blocks)
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
/// The same, and for how many of its threads the condition holds.
ASSAY_DEVICE int block_count(bool condition) { return __syncthreads_count(condition); }

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
ASSAY_DEVICE std::uint32_t warp_sum(std::uint32_t value) {
    return __reduce_add_sync(0xffffffffu, value);
}
/// Bit i: lane i's condition.
ASSAY_DEVICE std::uint32_t warp_ballot(bool condition) {
    return __ballot_sync(0xffffffffu, condition);
}
/// sums += a · b on a warp's tensor core: 16×16 times 16×8 numbers in bf16, sums in fp32. Lane
/// 4g + q holds rows g and g + 8 of a at columns 2q, 2q + 1 (words 0 and 1), then at 2q + 8, 2q + 9
/// (2 and 3); column g of b at rows 2q, 2q + 1, and at 2q + 8, 2q + 9; of the sums rows g (0 and 1)
/// and g + 8 (2 and 3) at columns 2q, 2q + 1. The lower half of a word comes first.
ASSAY_DEVICE void multiply_tile(float (&sums)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                std::uint32_t b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
/// Four matrices of 8 × 8 16-bit numbers out of block memory: lanes 0 to 7 name the lines (16
/// bytes) of the first, 8 to 15 of the second, and so on. Word i of lane 4g + q: line g of matrix
/// i, columns 2q and 2q + 1.
ASSAY_DEVICE void load_matrices(const void* line, std::uint32_t (&words)[4]) {
    const auto at = static_cast<std::uint32_t>(__cvta_generic_to_shared(line));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(at)
                 : "memory");
}
/// The same, transposed: column g, lines 2q and 2q + 1.
ASSAY_DEVICE void load_matrices_across(const void* line, std::uint32_t (&words)[4]) {
    const auto at = static_cast<std::uint32_t>(__cvta_generic_to_shared(line));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(at)
                 : "memory");
}
/// Asks for 16 bytes of block memory to become those at `from`, or zeros where there is nothing.
/// They are there once this thread has waited for their group (and for others after a barrier).
ASSAY_DEVICE void copy_piece(void* to, const void* from, bool there) {
    const auto at = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from),
                 "r"(there ? 16 : 0)
                 : "memory");
}
/// What was asked for since the last time is a group.
ASSAY_DEVICE void end_of_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/// Until at most so many groups, the latest, are under way.
template <int groups>
ASSAY_DEVICE void wait_for_copies() {
    asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory");
}
// Products of warpgroups: four warps, with operands where they lie in block memory. Lines there are
// of 128 bytes, whose eight pieces of 16 bytes are in places exclusive-or the line's number modulo
// eight. `terms_are_lines`: a line is 64 numbers of one term, and the next 64 come 64 lines later;
// else a line is one number's 64 terms.
/// What has been copied can be multiplied (after a barrier, by other warps, too).
ASSAY_DEVICE void show_copies() {
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
/// An operand's descriptor, of its first eight lines (PTX ISA, "matrix descriptor" of wgmma).
ASSAY_DEVICE std::uint64_t group_operand(std::uint32_t at) {
    constexpr std::uint64_t next_columns = 64 * 128, next_lines = 8 * 128, crosswise_128 = 1;
    return (at & 0x3ffffu) >> 4 | next_columns >> 4 << 16 | next_lines >> 4 << 32 |
           crosswise_128 << 62;
}
#endif
/// Begins sums += a · b, of 64 rows of a, 128 columns of b and 64 terms: sums[j] are a thread's as
/// those of multiply_tile() for its warp's 16 rows and columns from 8j on. All four warps take
/// part. Neither sums nor operands may be touched before wait_for_products().
template <bool terms_are_lines>
ASSAY_DEVICE void multiply_together(float (&sums)[16][4], const std::uint16_t* a,
                                    const std::uint16_t* b) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    const auto a_at = static_cast<std::uint32_t>(__cvta_generic_to_shared(a));
    const auto b_at = static_cast<std::uint32_t>(__cvta_generic_to_shared(b));
    constexpr std::uint32_t next_terms = terms_are_lines ? 16 * 128 : 16 * 2;
    constexpr int across = terms_are_lines ? 1 : 0;
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (std::uint32_t step = 0; step < 4; ++step)
        asm volatile(
            "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
            "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
            "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
            "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
            "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
            "%64, %65, 1, 1, 1, %66, %66;"
            : "+f"(sums[0][0]), "+f"(sums[0][1]), "+f"(sums[0][2]), "+f"(sums[0][3]),
              "+f"(sums[1][0]), "+f"(sums[1][1]), "+f"(sums[1][2]), "+f"(sums[1][3]),
              "+f"(sums[2][0]), "+f"(sums[2][1]), "+f"(sums[2][2]), "+f"(sums[2][3]),
              "+f"(sums[3][0]), "+f"(sums[3][1]), "+f"(sums[3][2]), "+f"(sums[3][3]),
              "+f"(sums[4][0]), "+f"(sums[4][1]), "+f"(sums[4][2]), "+f"(sums[4][3]),
              "+f"(sums[5][0]), "+f"(sums[5][1]), "+f"(sums[5][2]), "+f"(sums[5][3]),
              "+f"(sums[6][0]), "+f"(sums[6][1]), "+f"(sums[6][2]), "+f"(sums[6][3]),
              "+f"(sums[7][0]), "+f"(sums[7][1]), "+f"(sums[7][2]), "+f"(sums[7][3]),
              "+f"(sums[8][0]), "+f"(sums[8][1]), "+f"(sums[8][2]), "+f"(sums[8][3]),
              "+f"(sums[9][0]), "+f"(sums[9][1]), "+f"(sums[9][2]), "+f"(sums[9][3]),
              "+f"(sums[10][0]), "+f"(sums[10][1]), "+f"(sums[10][2]), "+f"(sums[10][3]),
              "+f"(sums[11][0]), "+f"(sums[11][1]), "+f"(sums[11][2]), "+f"(sums[11][3]),
              "+f"(sums[12][0]), "+f"(sums[12][1]), "+f"(sums[12][2]), "+f"(sums[12][3]),
              "+f"(sums[13][0]), "+f"(sums[13][1]), "+f"(sums[13][2]), "+f"(sums[13][3]),
              "+f"(sums[14][0]), "+f"(sums[14][1]), "+f"(sums[14][2]), "+f"(sums[14][3]),
              "+f"(sums[15][0]), "+f"(sums[15][1]), "+f"(sums[15][2]), "+f"(sums[15][3])
            : "l"(group_operand(a_at + step * next_terms)),
              "l"(group_operand(b_at + step * next_terms)), "n"(across));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#else
    __trap();  // launched where Device::warpgroups only
#endif
}
/// Until what multiply_together() began is in the sums.
ASSAY_DEVICE void wait_for_products(float (&sums)[16][4]) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
    for (auto& of : sums)  // not read before
        asm volatile("" : "+f"(of[0]), "+f"(of[1]), "+f"(of[2]), "+f"(of[3])::"memory");
#endif
}
/// The compiler moves no access to memory across it.
ASSAY_DEVICE void keep_order() { asm volatile("" ::: "memory"); }
ASSAY_DEVICE int bits_set(std::uint32_t bits) { return __popc(bits); }

/// The memory that the launch asked for, per block.
ASSAY_DEVICE float* block_memory() {
    extern __shared__ __align__(1024) Floats4 shared[];  // eight lines of group_operand()
    return reinterpret_cast<float*>(shared);
}

/// A read that will not be repeated: the caches should keep other things.
ASSAY_DEVICE Words4 load_once(const void* from) {
    const uint4 words = __ldcs(static_cast<const uint4*>(from));
    return {{words.x, words.y, words.z, words.w}};
}
ASSAY_DEVICE void store(void* to, const Words4& words) {
    *static_cast<uint4*>(to) =
        make_uint4(words.word[0], words.word[1], words.word[2], words.word[3]);
}
/// The same, past what this multiprocessor has kept.
ASSAY_DEVICE Words4 load_past_cache(const void* from) {
    const uint4 words = __ldcg(static_cast<const uint4*>(from));
    return {{words.x, words.y, words.z, words.w}};
}
/// 16 bytes that may be read again.
ASSAY_DEVICE Words4 load_words(const void* from) {
    const uint4 words = *static_cast<const uint4*>(from);
    return {{words.x, words.y, words.z, words.w}};
}
/// Four floats of block memory.
ASSAY_DEVICE Floats4 load_floats4(const float* from) {
    const float4 floats = *reinterpret_cast<const float4*>(from);
    return {{floats.x, floats.y, floats.z, floats.w}};
}
/// What other blocks of this launch wrote before they counted below; what no other thread of this
/// multiprocessor may have kept from before.
ASSAY_DEVICE float load_of_other_block(const float* from) { return __ldcg(from); }
ASSAY_DEVICE std::uint8_t load_of_other_block(const std::uint8_t* from) { return __ldcg(from); }
ASSAY_DEVICE std::uint16_t load_of_other_block(const std::uint16_t* from) { return __ldcg(from); }
ASSAY_DEVICE std::uint32_t load_of_other_block(const std::uint32_t* from) { return __ldcg(from); }
ASSAY_DEVICE int load_of_other_block(const int* from) { return __ldcg(from); }
/// Adds one to a counter of all blocks; the value it had. What this thread wrote before, and what
/// its block wrote before a barrier, is seen by whoever counts after (and, after a barrier, by its
/// block): one thread's order does for all, where a fence of every thread, which __threadfence()
/// is, waits for each (PTX ISA, "causality order").
ASSAY_DEVICE int count_one(int* counter) {
    int before;
    asm volatile("atom.add.acq_rel.gpu.global.s32 %0, [%1], 1;"
                 : "=r"(before)
                 : "l"(counter)
                 : "memory");
    return before;
}
/// The same, without any order.
ASSAY_DEVICE int take_one(int* counter) { return atomicAdd(counter, 1); }
/// Waits until a counter of all blocks is at `least` or more; what whoever counted wrote before is
/// seen after, by this thread, and by its block after a barrier.
ASSAY_DEVICE void wait_for_count(const int* counter, int least) {
    for (;;) {
        int counted;
        asm volatile("ld.acquire.gpu.global.s32 %0, [%1];"
                     : "=r"(counted)
                     : "l"(counter)
                     : "memory");
        if (counted >= least) return;
        __nanosleep(20);
    }
}

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
ASSAY_DEVICE std::uint32_t to_bits(float value) { return __float_as_uint(value); }
/// IEEE 754 binary16 in the low half of `bits`.
ASSAY_DEVICE float from_half_bits(std::uint32_t bits) {
    return __half2float(__ushort_as_half(static_cast<unsigned short>(bits)));
}

}  // namespace assay::kernels::cuda
