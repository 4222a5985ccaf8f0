// The kernel behind GEMV, router and gate/up: dot products of weight rows with a few tokens' x, a
// warp to each row. What the rows are and what becomes of the sums is the Job's:
//
//   static constexpr int matrices;                        1, or 2: two rows are summed side by side
//   static constexpr bool rows_are_known;                 no earlier kernel decides on the rows
//   int rows() const;                                     may be read from device memory
//   const std::byte* row(int matrix, int r) const;
//   void finish(int r, int token, const float (&sums)[matrices]) const;
//   void end_of_block(int rows, float* memory) const;     every thread of every block, at its end
//
// Rows are dealt over the blocks one by one, so that multiprocessors differ by at most one round of
// rows; the grid is as large as the device holds at a time and goes round. x lies in block memory
// as fp32, in tiles of columns where the tokens do not fit.
#pragma once

#include "kernels/cuda/device/machine.hpp"
#include "kernels/cuda/host/launch_plan.hpp"

namespace assay::kernels::cuda {

/// Adds to sums[r][t] the products of units lane, lane + 32, … of the rows with the tokens' x, in
/// block memory, `x_stride` floats from token to token.
template <class Format, int count, int rows, int tokens>
ASSAY_DEVICE void add_products(const std::byte* const (&row)[rows], int first_unit, int unit,
                               const float* x, int x_stride, float (&sums)[rows][tokens]) {
    typename Format::Raw raw[count][rows];
#pragma unroll
    for (int i = 0; i < count; ++i)
#pragma unroll
        for (int r = 0; r < rows; ++r)
            raw[i][r] = Format::load(row[r], first_unit + unit + i * lanes);
    constexpr int group = Format::values < 4 ? Format::values : 4;
    constexpr int groups = Format::values / group;
#pragma unroll
    for (int i = 0; i < count; ++i) {
        float weights[rows][Format::values];
#pragma unroll
        for (int r = 0; r < rows; ++r) Format::decode(raw[i][r], weights[r]);
#pragma unroll
        for (int t = 0; t < tokens; ++t)
#pragma unroll
            for (int g = 0; g < groups; ++g) {
                const float* const from =
                    x + t * x_stride + g * (x_stride / groups) + (unit + i * lanes) * group;
                float at[group];
                if constexpr (group == 4) {
                    const Floats4 four = load_floats4(from);
#pragma unroll
                    for (int v = 0; v < 4; ++v) at[v] = four.value[v];
                } else {
                    at[0] = *from;
                }
#pragma unroll
                for (int r = 0; r < rows; ++r)
#pragma unroll
                    for (int v = 0; v < group; ++v) sums[r][t] += weights[r][g * group + v] * at[v];
            }
    }
}

ASSAY_DEVICE const std::byte* row_at(const std::byte* rows, int row, int row_bytes) {
    return rows + static_cast<std::ptrdiff_t>(row) * row_bytes;
}

/// Copies a tile of the tokens' x into block memory, where the format wants it. Calls meanwhile()
/// when the first numbers have been asked for.
template <class Format, class Meanwhile>
ASSAY_DEVICE void copy_tile(const RowsShape& shape, int first_token, int tokens, int first_column,
                            int columns, float* tile, const Meanwhile& meanwhile) {
    constexpr int groups = Format::values < 4 ? 1 : Format::values / 4;
    // So many columns further, an x lies as many places further in its plane as there are.
    constexpr int next_place = rows_threads / groups;
    for (int t = 0; t < tokens; ++t) {
        const float* const x =
            shape.x + static_cast<std::ptrdiff_t>(first_token + t) * shape.columns + first_column;
        float* const to = tile + t * shape.tile_columns;
        constexpr int at_once =
            8;  // else a thread waits for every number before it asks for the next
        for (int round = 0; round < columns; round += at_once * rows_threads) {
            const int first = round + thread_index();
            float number[at_once];
#pragma unroll
            for (int i = 0; i < at_once; ++i)
                number[i] = first + i * rows_threads < columns ? x[first + i * rows_threads] : 0.0f;
            if (t == 0 && round == 0) meanwhile();
            keep_order();
            float* const at = to + Format::place(first, shape.tile_columns / groups);
#pragma unroll
            for (int i = 0; i < at_once; ++i)
                if (first + i * rows_threads < columns) at[i * next_place] = number[i];
        }
    }
}

/// The share of a launch's prefetched bytes for each of `rows` pieces, of which every warp has one
/// at most.
ASSAY_DEVICE int prefetched_piece(int bytes, int rows) {
    const int warps = blocks_in_grid().x * rows_warps;
    return bytes / (rows < 1 ? 1 : rows < warps ? rows : warps);
}

/// A warp asks for the first `bytes` of a row.
ASSAY_DEVICE void prefetch_row(const std::byte* row, int bytes) {
    constexpr int line = 128;
#pragma unroll 1
    for (int at = thread_index() % lanes * line; at < bytes; at += lanes * line) prefetch(row + at);
}

/// How many warps share a row, so that few rows keep many warps busy: a power of two.
struct Sharing {
    int bits = 0;
    ASSAY_DEVICE int warps() const { return 1 << bits; }
    ASSAY_DEVICE int row_of(int warp) const { return warp >> bits; }
    ASSAY_DEVICE int part_of(int warp) const { return warp & (warps() - 1); }
    /// Units of a part of so many, in whole rounds of the lanes.
    ASSAY_DEVICE int units_of_part(int units) const {
        return (((units - 1) >> bits) + lanes) / lanes * lanes;
    }
};
ASSAY_DEVICE Sharing sharing_of(const RowsShape& shape, int rows) {
    const int warps = blocks_in_grid().x * rows_warps;
    Sharing sharing;
    while (2 * sharing.warps() <= shape.most_warps_of_row && rows <= warps >> (sharing.bits + 1))
        ++sharing.bits;
    return sharing;
}

/// While x is still on its way, the first rows can be, too: of each, this warp's part.
template <class Job, int rows_of_warp>
ASSAY_DEVICE void prefetch_rows(const Job& job, const RowsShape& shape, int first, int rows,
                                Sharing sharing) {
    const int of_part = shape.row_bytes >> sharing.bits;
    const int piece = prefetched_piece(shape.prefetch_bytes, rows) / Job::matrices >> sharing.bits;
    const int bytes = piece < of_part ? piece : of_part;
    const int from = sharing.part_of(thread_index() / lanes) * of_part;
#pragma unroll 1
    for (int at = 0; at < rows_of_warp * Job::matrices; ++at) {
        const int r = first + at / Job::matrices;
        if (r < rows) prefetch_row(job.row(at % Job::matrices, r) + from, bytes);
    }
}

/// The first of the warps that share a row gets the sums of all, lane by lane, in their order.
template <int summed>
ASSAY_DEVICE void add_up_shared(float (&sums)[summed][1], Sharing sharing, float* memory) {
    const int lane = thread_index() % lanes, warp = thread_index() / lanes;
#pragma unroll
    for (int r = 0; r < summed; ++r) memory[(r * rows_warps + warp) * lanes + lane] = sums[r][0];
    block_barrier();
    if (sharing.part_of(warp) != 0) return;
    for (int other = 1; other < sharing.warps(); ++other)
#pragma unroll
        for (int r = 0; r < summed; ++r)
            sums[r][0] += memory[(r * rows_warps + warp + other) * lanes + lane];
}

template <class Format, int tokens, class Job>
ASSAY_KERNEL(rows_threads, rows_blocks_per_multiprocessor(tokens))
rows_kernel(ASSAY_PARAMETER Job job, ASSAY_PARAMETER RowsShape shape) {
    constexpr int matrices = Job::matrices;
    constexpr int together = rows_per_warp(tokens), summed = matrices * together;
    constexpr int in_flight =
        loads_in_flight(tokens) / summed < 1 ? 1 : loads_in_flight(tokens) / summed;
    static_assert(together * tokens <= lanes, "each lane finishes at most one result");
    const int lane = thread_index() % lanes, warp = thread_index() / lanes;
    const int blocks = blocks_in_grid().x;
    const int first_token = block_index().y * tokens;
    const int tokens_here = shape.batch - first_token < tokens ? shape.batch - first_token : tokens;
    float* const tile = block_memory();
    const bool one_tile = shape.columns <= shape.tile_columns;

    // A row's warps are neighbours. With more than one the rows are all dealt in one round.
    static_assert(tokens == 1 || together * tokens <= lanes);
    Sharing sharing;
    const auto first_row = [&](int first) {
        return first + sharing.row_of(warp) * blocks * together;
    };
    const auto prefetch_first = [&](int rows) {
        if (tokens == 1 && one_tile) sharing = sharing_of(shape, rows);
        prefetch_rows<Job, together>(job, shape, first_row(block_index().x * together), rows,
                                     sharing);
    };
    if constexpr (Job::rows_are_known) prefetch_first(job.rows());
    wait_for_previous_kernel();
    allow_next_kernel();
    int rows = 0;
    copy_tile<Format>(shape, first_token, tokens_here, 0,
                      one_tile ? shape.columns : shape.tile_columns, tile, [&] {
                          rows = job.rows();
                          if constexpr (!Job::rows_are_known) prefetch_first(rows);
                      });
    block_barrier();
    bool copied = true;  // what is multiplied next
    const int round_rows = sharing.row_of(rows_warps) * blocks * together;
    for (int first = block_index().x * together; first < rows; first += round_rows) {
        const int row_of_warp = first_row(first);
        if (shape.prefetch_next && row_of_warp + round_rows < rows)
            prefetch_rows<Job, together>(job, shape, row_of_warp + round_rows, rows, sharing);
        const std::byte* row[summed];
#pragma unroll
        for (int r = 0; r < together; ++r)
#pragma unroll
            for (int m = 0; m < matrices; ++m)  // rows past the last read the last once more
                row[r * matrices + m] =
                    job.row(m, row_of_warp + r < rows ? row_of_warp + r : rows - 1);
        float sums[summed][tokens];
#pragma unroll
        for (int r = 0; r < summed; ++r)
#pragma unroll
            for (int t = 0; t < tokens; ++t) sums[r][t] = 0.0f;

        for (int column = 0; column < shape.columns; column += shape.tile_columns) {
            const int left = shape.columns - column;
            const int columns = left < shape.tile_columns ? left : shape.tile_columns;
            if (!copied) {
                block_barrier();  // the tile before is no longer read
                copy_tile<Format>(shape, first_token, tokens_here, column, columns, tile, [] {});
                block_barrier();
            }
            copied = one_tile;
            if (row_of_warp >= rows) continue;
            int units = columns / Format::values;
            const int first_unit = column / Format::values;
            int unit = lane;
            if (sharing.bits > 0) {
                const int of_part = sharing.units_of_part(units), part = sharing.part_of(warp);
                unit += part * of_part;
                const int end = (part + 1) * of_part;
                units = end < units ? end : units;
            }
            for (; unit + (in_flight - 1) * lanes < units; unit += in_flight * lanes)
                add_products<Format, in_flight>(row, first_unit, unit, tile, shape.tile_columns,
                                                sums);
            for (; unit < units; unit += lanes)
                add_products<Format, 1>(row, first_unit, unit, tile, shape.tile_columns, sums);
        }
        if constexpr (tokens == 1)
            if (sharing.bits > 0) add_up_shared(sums, sharing, tile + shape.tile_columns);
        if (row_of_warp >= rows || sharing.part_of(warp) != 0) continue;

        // Every lane gets every sum and finishes one result.
        float mine[matrices] = {};
#pragma unroll
        for (int r = 0; r < summed; ++r) {
            warp_sum(sums[r]);
#pragma unroll
            for (int t = 0; t < tokens; ++t)
                if (lane == r / matrices * tokens + t) mine[r % matrices] = sums[r][t];
        }
        const int my_row = row_of_warp + lane / tokens, my_token = lane % tokens;
        if (lane < together * tokens && my_row < rows && my_token < tokens_here)
            job.finish(my_row, first_token + my_token, mine);
    }
    job.end_of_block(rows, tile);
}

}  // namespace assay::kernels::cuda
