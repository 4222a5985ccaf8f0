// A sparse network in one launch: router and list (if wanted), gate and up, down. Blocks take items
// of work from common counters until none is left, so that none idles while others have experts to
// read, and wait only for items that somebody has taken and works on. So the kernel ends whatever
// part of its blocks the device holds at a time.
//
// Hand-over: who has done an item of rows counts it; down begins when all are counted. Meanwhile
// each block asks for rows of down (GateUpJob::end_of_block).
#pragma once

#include "kernels/cuda/device/down_kernel.hpp"
#include "kernels/cuda/device/jobs.hpp"

namespace assay::kernels::cuda {

/// Zero before and after.
struct PersistentCounters {
    int router_taken, router_done, listed, rows_taken, rows_done, down_taken, left;
};
static_assert(sizeof(PersistentCounters) % sizeof(int) == 0);

struct PersistentShape {
    int slabs, parts;  ///< of down
    int flag;          ///< a float of block memory that nothing else uses
    bool with_router;  ///< whose type is that of the network
    RouterJob router;  ///< its outputs are what gate and up read
    PersistentCounters* counters;
};

/// The next item, for the whole block.
ASSAY_DEVICE int take_item(int* taken, float* flag) {
    if (thread_index() == 0) *reinterpret_cast<int*>(flag) = take_one(taken);
    block_barrier();
    const int item = *reinterpret_cast<int*>(flag);
    block_barrier();
    return item;
}

/// True in the block that has done the last of `items`, which sees what all have written.
ASSAY_DEVICE bool item_done(int* done, int items) {
    block_barrier();
    return block_count(thread_index() == 0 && count_one(done) == items - 1) > 0;
}

/// Until `least` are counted; then the block sees what was written before they were.
ASSAY_DEVICE void wait_for_items(const int* done, int least) {
    if (thread_index() == 0) wait_for_count(done, least);
    block_barrier();
}

/// A row for each group of warps that share one, from first_row on. tile: x; behind it
/// 2 * rows_threads floats.
template <class Format, int tokens, class Job>
ASSAY_DEVICE void multiply_rows(const Job& job, const RowsShape& shape, int first_row, int rows,
                                Sharing sharing, float* tile) {
    constexpr int matrices = Job::matrices;
    constexpr int in_flight =
        loads_in_flight(tokens) / matrices < 1 ? 1 : loads_in_flight(tokens) / matrices;
    const int lane = thread_index() % lanes, warp = thread_index() / lanes;
    const int r = first_row + sharing.row_of(warp);
    const std::byte* row[matrices];
#pragma unroll
    for (int m = 0; m < matrices; ++m) row[m] = job.row(m, r < rows ? r : rows - 1);
    float sums[matrices][tokens];
#pragma unroll
    for (int m = 0; m < matrices; ++m)
#pragma unroll
        for (int t = 0; t < tokens; ++t) sums[m][t] = 0.0f;
    if (r < rows) {
        const int units = shape.columns / Format::values;
        const int of_part = sharing.units_of_part(units), part = sharing.part_of(warp);
        const int stop = (part + 1) * of_part, end = stop < units ? stop : units;
        int unit = lane + part * of_part;
        for (; unit + (in_flight - 1) * lanes < end; unit += in_flight * lanes)
            add_products<Format, in_flight>(row, 0, unit, tile, shape.tile_columns, sums);
        for (; unit < end; unit += lanes)
            add_products<Format, 1>(row, 0, unit, tile, shape.tile_columns, sums);
    }
    if constexpr (tokens == 1)
        if (sharing.bits > 0) add_up_shared(sums, sharing, tile + shape.tile_columns);
    if (r >= rows || sharing.part_of(warp) != 0) return;
    float mine[matrices] = {};
#pragma unroll
    for (int m = 0; m < matrices; ++m) {
        warp_sum(sums[m]);
#pragma unroll
        for (int t = 0; t < tokens; ++t)
            if (lane == t) mine[m] = sums[m][t];
    }
    if (lane < tokens && lane < shape.batch) job.finish(r, lane, mine);
}

/// Items of rows until none is left, each of as many rows as the block has shares of warps. True in
/// the block that did the last one.
template <class Format, int tokens, class Job>
ASSAY_DEVICE bool take_rows(const Job& job, const RowsShape& shape, int* taken, int* done,
                            int* items, float* tile, float* flag) {
    const int rows = job.rows();
    const Sharing sharing = tokens == 1 ? sharing_of(shape, rows) : Sharing{};
    const int of_item = sharing.row_of(rows_warps);
    *items = (rows + of_item - 1) / of_item;
    bool last = false;
    for (;;) {
        const int item = take_item(taken, flag);
        if (item >= *items) return last;
        multiply_rows<Format, tokens>(job, shape, item * of_item, rows, sharing, tile);
        last = item_done(done, *items);
    }
}

template <class Format, int tokens, bool gated>
ASSAY_KERNEL(rows_threads, persistent_blocks_per_multiprocessor(tokens))
persistent_kernel(ASSAY_PARAMETER GateUpJob<gated> rows, ASSAY_PARAMETER RowsShape shape,
                  ASSAY_PARAMETER DownJob down, ASSAY_PARAMETER PersistentShape grid) {
    float* const memory = block_memory();
    float* const flag = memory + grid.flag;
    PersistentCounters* const counters = grid.counters;
    wait_for_previous_kernel();
    allow_next_kernel();
    copy_tile<Format>(shape, 0, shape.batch, 0, shape.columns, memory, [] {});
    block_barrier();

    int items = 0;
    if (grid.with_router) {
        if (take_rows<Format, tokens>(grid.router, shape, &counters->router_taken,
                                      &counters->router_done, &items, memory, flag)) {
            grid.router.list_active(reinterpret_cast<int*>(memory + shape.tile_columns * tokens));
            static_cast<void>(item_done(&counters->listed, 0));
        }
        wait_for_items(&counters->listed, 1);
    }
    take_rows<Format, tokens>(rows, shape, &counters->rows_taken, &counters->rows_done, &items,
                              memory, flag);
    rows.end_of_block(rows.rows(), memory);
    for (;;) {
        const int item = take_item(&counters->down_taken, flag);
        if (item >= grid.slabs * grid.parts) break;
        const int slab = item % grid.slabs;
        add_slab_part<Format, tokens, rows_warps>(
            down, slab, item / grid.slabs, grid.parts, 0, down.counters + slab, memory,
            [&] { wait_for_items(&counters->rows_done, items); });
    }
    if (is_last_block(&counters->left, blocks_in_grid().x) && thread_index() == 0)
        *counters = PersistentCounters{};
}

}  // namespace assay::kernels::cuda
