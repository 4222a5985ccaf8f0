// What benchmarks compare with: a plain read of device memory, and the copying of active experts
// that an indexed matrix product starts with.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace assay::kernels::cuda {

/// Reads bytes (a multiple of 16), 16 at a time, by every thread the device holds. sink: one word,
/// written only so that nothing can be left out.
void read_memory(const void* from, std::size_t bytes, std::uint32_t* sink, int multiprocessors,
                 cudaStream_t stream);
/// to[i] = from[ids[i]] for `count` pieces of piece_bytes (a multiple of 16).
void gather_pieces(const void* from, const std::int32_t* ids, int count, std::size_t piece_bytes,
                   void* to, cudaStream_t stream);
/// out = silu(gate) · up in bf16, for the dense products' second half.
void swiglu_to_bf16(const float* gate, const float* up, int count, std::uint16_t* out,
                    cudaStream_t stream);

}  // namespace assay::kernels::cuda
