// The kernel of rows_kernel.hpp for bf16 weights and 5 to 16 tokens, on the tensor cores: a warp
// takes a tile of 8 rows (of each of the job's matrices) and goes through the columns once, all
// tokens beside each other. Jobs are the same.
//
// x lies in block memory in two chunks of columns, one of which is filled while the other is read:
// split into bf16 (tiles.hpp), in the order in which lanes hold it. Each lane reads 8 neighbouring
// columns of a row at a time; which columns meet in a product does not matter as long as x has the
// same order.
#pragma once

#include "kernels/cuda/device/rows_kernel.hpp"
#include "kernels/cuda/device/tiles.hpp"

namespace assay::kernels::cuda {

/// Columns from `first_column` on, of all tokens; zeros beyond.
ASSAY_DEVICE void copy_chunk(const RowsShape& shape, int first_column, std::uint32_t* chunk) {
    constexpr int pairs = chunk_columns / 2;
    for (int i = thread_index(); i < tile_tokens * pairs; i += rows_threads) {
        const int token = i / pairs, column = i % pairs * 2;
        std::uint32_t part[2][fp32_parts];
#pragma unroll
        for (int v = 0; v < 2; ++v) {
            const int c = first_column + column + v;
            split_fp32(token < shape.batch && c < shape.columns
                           ? shape.x[static_cast<std::ptrdiff_t>(token) * shape.columns + c]
                           : 0.0f,
                       part[v]);
        }
        // A lane's eight columns are two steps of four, two columns to a word.
        const int step = column / 32 * 2 + column % 8 / 4;
        const int lane = token % 8 * 4 + column % 32 / 8;
        const int word = column % 4 / 2 * 2 + token / 8;
#pragma unroll
        for (int p = 0; p < fp32_parts; ++p)
            chunk[((step * fp32_parts + p) * lanes + lane) * 4 + word] =
                upper_halves(part[0][p], part[1][p]);
    }
}

template <class Job>
ASSAY_KERNEL(rows_threads, 1)
rows_tiles_kernel(ASSAY_PARAMETER Job job, ASSAY_PARAMETER RowsShape shape) {
    constexpr int matrices = Job::matrices;
    const int lane = thread_index() % lanes, warp = thread_index() / lanes;
    const int row_of_lane = lane / 4, eight_of_lane = lane % 4;
    const int blocks = blocks_in_grid().x;
    std::uint32_t* const memory = reinterpret_cast<std::uint32_t*>(block_memory());
    const int chunks = (shape.columns + chunk_columns - 1) / chunk_columns;
    const int units = shape.columns / Bf16x8::values;
    wait_for_previous_kernel();
    allow_next_kernel();
    const int rows = job.rows();
    for (int first = block_index().x * tile_rows; first < rows;
         first += rows_warps * blocks * tile_rows) {
        const int first_row = first + warp * blocks * tile_rows;
        const bool active = first_row < rows;  // warps without a tile help to copy x
        const std::byte* row[matrices];
#pragma unroll
        for (int m = 0; m < matrices; ++m)
            row[m] =
                job.row(m, first_row + row_of_lane < rows ? first_row + row_of_lane : rows - 1);
        Words4 weights[chunk_loads][matrices];
        const auto load = [&](int chunk, int i) {
            const int unit = (chunk * chunk_loads + i) * 4 + eight_of_lane;
#pragma unroll
            for (int m = 0; m < matrices; ++m)
                weights[i][m] =
                    active && unit < units ? Bf16x8::load(row[m], unit) : Words4{{0, 0, 0, 0}};
        };
#pragma unroll
        for (int i = 0; i < chunk_loads; ++i) load(0, i);
        // The large parts and the small ones apart: the tensor cores' sums are cut off, not
        // rounded.
        float sums[matrices][2][4] = {};
        block_barrier();  // the round before is no longer read
        copy_chunk(shape, 0, memory);
        for (int chunk = 0; chunk < chunks; ++chunk) {
            block_barrier();
            if (chunk + 1 < chunks)
                copy_chunk(shape, (chunk + 1) * chunk_columns,
                           memory + (chunk + 1) % 2 * chunk_words);
            if (!active) continue;
            const std::uint32_t* const x = memory + chunk % 2 * chunk_words + lane * 4;
#pragma unroll
            for (int i = 0; i < chunk_loads; ++i) {
#pragma unroll
                for (int half = 0; half < 2; ++half) {
                    const int step = i * 2 + half;
#pragma unroll
                    for (int p = 0; p < fp32_parts; ++p) {
                        const Words4 part = load_words(x + (step * fp32_parts + p) * lanes * 4);
#pragma unroll
                        for (int m = 0; m < matrices; ++m)
                            multiply_tile(sums[m][p == 0 ? 0 : 1], part.word,
                                          weights[i][m].word[2 * half],
                                          weights[i][m].word[2 * half + 1]);
                    }
                }
                if (chunk + 1 < chunks) load(chunk + 1, i);
            }
        }
        if (!active) continue;
#pragma unroll
        for (int v = 0; v < 4; ++v) {
            const int my_row = first_row + eight_of_lane * 2 + v % 2;
            const int token = row_of_lane + v / 2 * 8;
            float mine[matrices];
#pragma unroll
            for (int m = 0; m < matrices; ++m) mine[m] = sums[m][0][v] + sums[m][1][v];
            if (my_row < rows && token < shape.batch) job.finish(my_row, token, mine);
        }
    }
    job.end_of_block(rows, block_memory());
}

}  // namespace assay::kernels::cuda
