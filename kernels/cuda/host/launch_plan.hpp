// How large launches are, and the memory they need: plain arithmetic, tested without a GPU. Sizes
// that have no other source are estimates for GPUs of Hopper's kind (228 KB of block memory, 65,536
// registers per multiprocessor) and wait for measurements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "kernels/assay_kernels.h"

namespace assay::kernels::cuda {

constexpr int largest_batch = 16;

/// What plans need to know of a device.
struct Device {
    int multiprocessors = 0;
};

struct Launch {
    int x = 1, y = 1, z = 1;  ///< blocks
    int threads = 0;
    std::size_t memory_bytes = 0;  ///< per block
};

/// How kernels read weights: 16 bytes at a time, one weight at a time, or in GGUF blocks.
enum class Access { wide, single, quantised };
/// Wide needs rows and base addresses that are multiples of 16 bytes.
Access access_to(AssayType type, std::ptrdiff_t row_bytes,
                 std::initializer_list<const void*> bases);

/// Tokens that one pass over the weights serves: the smallest of what kernels are compiled for that
/// holds the batch, or the largest; more tokens are served by further passes, side by side.
int tokens_per_pass(Access access, int batch);
/// Passes over the weights.
int passes(int tokens, int batch);

// Rows: rows_kernel.hpp.
constexpr int rows_warps = 16, rows_threads = 32 * rows_warps;
/// With many tokens, two rows share each read of x from block memory.
constexpr int rows_per_warp(int tokens) { return tokens >= 8 ? 2 : 1; }
constexpr int rows_blocks_per_multiprocessor(int tokens) { return tokens >= 8 ? 1 : 2; }
/// Reads of 16 bytes that a lane asks for before it uses the first.
constexpr int loads_in_flight(int tokens) { return tokens == 1 ? 8 : 4; }

/// A kernel's parameter.
struct RowsShape {
    const float* x;  ///< [batch][columns]
    int columns, batch;
    int tile_columns;  ///< columns of x in block memory at a time
    std::ptrdiff_t row_bytes;
};
int tile_columns(int columns, int tokens);
/// `rows`: the most there can be.
Launch rows_launch(const Device& device, std::int64_t rows, int columns, int tokens, int batch);

// Down: down_kernel.hpp.
constexpr int down_warps = 8, down_threads = 32 * down_warps;
constexpr int down_blocks_per_multiprocessor(int tokens) {
    return tokens == 1 ? 4 : tokens <= 8 ? 2 : 1;
}
constexpr int down_loads_in_flight(int tokens) { return tokens <= 8 ? 4 : 2; }
constexpr int most_parts = 64;
/// Columns of a block: 32 lanes' units.
int slab_columns(AssayType type, Access access);
Launch down_launch(const Device& device, const AssayFfn& ffn, Access access, int tokens, int batch);

/// Zeroed integers that a context keeps for its kernels.
constexpr int counters = 65536;

/// The workspace of a sparse FFN, in bytes from its start; each part aligned to 64.
struct WorkspaceLayout {
    std::size_t activations = 0, tokens = 0, sums = 0, bytes = 0;
};
/// The same for every device.
WorkspaceLayout workspace_layout(const AssayFfn& ffn, int batch);

}  // namespace assay::kernels::cuda
