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
    // What is asked for ahead of its use, into the L2 cache: so much that memory is busy meanwhile,
    // and so little that it is still there when it is used. Best of 0, 4, 16 and 32 on an H100.
    int prefetch_mb = 4;        ///< of the rows that warps begin with
    int down_prefetch_mb = 4;   ///< of down, when gate and up come to their end
    bool tensor_cores = true;   ///< where tiles() says so
    bool warpgroups = false;    ///< four warps multiply together (wgmma): compute capability 9.0
    int prefetch_next = 0;      ///< 1: of the row after, too
    int most_warps_of_row = 4;  ///< that share a row where rows are few
    int router_blocks = 2;      ///< per multiprocessor: one leaves room for the next launch's
    int persistent = 0;         ///< 1: gate, up and down in one launch where persistent() says so
};

struct Launch {
    int x = 1, y = 1, z = 1;  ///< blocks
    int threads = 0;
    std::size_t memory_bytes = 0;  ///< per block
};

/// How kernels read weights: 16 bytes at a time, one weight at a time, or in GGUF blocks.
enum class Access { wide, single, quantised };
/// Wide needs rows and base addresses that are multiples of 16 bytes.
Access access_to(AssayType type, int row_bytes, std::initializer_list<const void*> bases);

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
    int row_bytes;
    int prefetch_bytes;  ///< of the whole launch
    int prefetch_next;   ///< 1: the same of the next row while this one is read
    int most_warps_of_row;
};
int tile_columns(int columns, int tokens);
/// `rows`: the most there can be.
Launch rows_launch(const Device& device, std::int64_t rows, int columns, int tokens, int batch);

// Down: down_kernel.hpp.
constexpr int down_warps = 8, down_threads = 32 * down_warps;
constexpr int down_blocks_per_multiprocessor(int tokens) {
    return tokens == 1 ? 4 : tokens <= 8 ? 2 : 1;
}
constexpr int down_loads_in_flight(int tokens) {
    return tokens == 1 ? 5 : tokens == 4 ? 6 : tokens == 8 ? 4 : 2;
}
/// Parts of a column's sum, at most.
constexpr int down_most_parts = 64;
/// Columns of a block: 32 lanes' units.
int slab_columns(AssayType type, Access access);
Launch down_launch(const Device& device, const AssayFfn& ffn, Access access, int tokens, int batch);

// Gate, up and down in one launch: persistent_kernel.hpp.
/// With more tokens down needs more registers than two such blocks leave it.
constexpr int persistent_blocks_per_multiprocessor(int tokens) { return tokens == 1 ? 2 : 1; }
/// Whether it can be: it has kernels for a few tokens, whose x fits in block memory as a whole.
bool persistent(const Device& device, const AssayFfn& ffn, Access access, int batch);
Launch persistent_launch(const Device& device, const AssayFfn& ffn, int tokens);
/// Of a column's sum.
int persistent_parts(const Device& device, const AssayFfn& ffn, int tokens);

// Tiles for the tensor cores: rows_tiles_kernel.hpp and down_tiles_kernel.hpp.
constexpr int tile_tokens = 16, tile_rows = 8, tile_neurons = 16;
/// x in block memory: two chunks of so many columns, in three bf16 parts.
constexpr int chunk_columns = 256, chunk_words = chunk_columns * tile_tokens / 2 * 3;
/// A lane's 16-byte reads of a chunk of a row, all in flight at a time.
constexpr int chunk_loads = chunk_columns / 32;
constexpr int down_tiles_blocks_per_multiprocessor = 2;
/// Whether the tensor cores multiply: they do not round as fp32 sums do, and a few tokens would
/// leave most of a tile empty.
bool tiles(const Device& device, AssayType type, Access access, int batch);
/// `rows`: the most there can be.
Launch rows_tiles_launch(const Device& device, std::int64_t rows);
Launch down_tiles_launch(const Device& device, const AssayFfn& ffn);

// Dispatch: dispatch_kernels.hpp.
constexpr int schedule_threads = 128, schedule_warps = schedule_threads / 32;
constexpr int places_warps = 16, places_threads = 32 * places_warps;
/// Neighbouring rows that a thread looks at.
constexpr int places_rows = 4;
constexpr int move_warps = 8, move_threads = 32 * move_warps;
constexpr int move_blocks_per_multiprocessor = 6;
/// Reads of 16 bytes that a lane asks for before it stores the first.
constexpr int move_loads_in_flight = 4;
Launch schedule_launch(const AssayDispatch& call);
Launch places_launch(const AssayDispatch& call);
/// A warp per row.
Launch move_launch(const AssayRowMove& call);

/// Zeroed integers that a context keeps for its kernels.
constexpr int counters = 65536;

/// The workspace of a sparse FFN, in bytes from its start; each part aligned to 64.
struct WorkspaceLayout {
    std::size_t activations = 0, tokens = 0, sums = 0, bytes = 0;
};
/// The same for every device.
WorkspaceLayout workspace_layout(const AssayFfn& ffn, int batch);

}  // namespace assay::kernels::cuda
