// The kernel of down_kernel.hpp for bf16 weights and 5 to 16 tokens, on the tensor cores. A step is
// 16 neurons of one expert, so that each token uses all of them or none: its products are added
// where it does, and not even a NaN comes through where it does not. Four warps lie beside each
// other over the slab's columns, two take turns with the steps.
#pragma once

#include "kernels/cuda/device/down_kernel.hpp"
#include "kernels/cuda/device/tiles.hpp"

namespace assay::kernels::cuda {

/// What a lane holds of a step: four neurons, eight columns of each, two tokens' activations.
struct DownStep {
    Words4 weights[4];
    float activations[4][2];
    std::uint32_t tokens;
};

ASSAY_DEVICE DownStep load_step(const DownJob& job, int step, int unit) {
    const int lane = thread_index() % lanes, expert_size = job.active.expert_size;
    const int per_expert = (expert_size + tile_neurons - 1) / tile_neurons;
    const int slot = step / per_expert;
    const int first = step % per_expert * tile_neurons + lane % 4 * 4;
    const int row = job.active.expert_of(slot) * expert_size + first;
    DownStep loaded;
    loaded.tokens = job.tokens[slot];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const bool there = first + i < expert_size;
        loaded.weights[i] = there && unit * Bf16x8::values < job.width
                                ? Bf16x8::load(row_at(job.down, row + i, job.row_bytes), unit)
                                : Words4{{0, 0, 0, 0}};
        const float* const activations =
            job.activations +
            (static_cast<std::ptrdiff_t>(slot) * expert_size + first + i) * job.active.batch;
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            const int token = lane / 4 + h * 8;
            loaded.activations[i][h] =
                there && token < job.active.batch ? activations[token] : 0.0f;
        }
    }
    return loaded;
}

ASSAY_DEVICE void add_step(const DownStep& step, float (&sums)[Bf16x8::values][4]) {
    std::uint32_t x[fp32_parts][4];
#pragma unroll
    for (int pair = 0; pair < 2; ++pair)
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            std::uint32_t low[fp32_parts], high[fp32_parts];
            split_fp32(step.activations[2 * pair][h], low);
            split_fp32(step.activations[2 * pair + 1][h], high);
#pragma unroll
            for (int p = 0; p < fp32_parts; ++p) x[p][pair * 2 + h] = upper_halves(low[p], high[p]);
        }
    const int lane = thread_index() % lanes;
#pragma unroll
    for (int c = 0; c < Bf16x8::values; ++c) {
        const auto column = [&](int neuron) {
            const std::uint32_t low = step.weights[neuron].word[c / 2];
            const std::uint32_t high = step.weights[neuron + 1].word[c / 2];
            return c % 2 == 0 ? lower_halves(low, high) : upper_halves(low, high);
        };
        float products[4] = {};
#pragma unroll
        for (int p = fp32_parts - 1; p >= 0; --p)
            multiply_tile(products, x[p], column(0), column(2));
#pragma unroll
        for (int v = 0; v < 4; ++v)
            if (step.tokens >> (lane / 4 + v / 2 * 8) & 1u) sums[c][v] += products[v];
    }
}

ASSAY_KERNEL(down_threads, down_tiles_blocks_per_multiprocessor)
down_tiles_kernel(ASSAY_PARAMETER DownJob job) {
    constexpr int across = 4, in_turn = down_warps / across;
    constexpr int slab_columns = lanes * Bf16x8::values;
    static_assert(slab_columns == down_threads, "a thread adds up a column");
    const int lane = thread_index() % lanes, warp = thread_index() / lanes;
    const int slab = block_index().x, part = block_index().y, parts = blocks_in_grid().y;
    const int unit = slab * lanes + warp % across * 8 + lane / 4, turn = warp / across;
    wait_for_previous_kernel();
    allow_next_kernel();
    const int expert_size = job.active.expert_size;
    const std::int64_t steps =
        job.active.neurons() / expert_size * ((expert_size + tile_neurons - 1) / tile_neurons);
    const int begin = static_cast<int>(steps * part / parts);
    const int end = static_cast<int>(steps * (part + 1) / parts);

    float sums[Bf16x8::values][4] = {};
    if (begin + turn < end) {
        DownStep step = load_step(job, begin + turn, unit);
        for (int next = begin + turn + in_turn; next < end; next += in_turn) {
            const DownStep loaded = load_step(job, next, unit);
            add_step(step, sums);
            step = loaded;
        }
        add_step(step, sums);
    }

    float* const memory = block_memory();  // [in_turn][tile_tokens][slab_columns]
#pragma unroll
    for (int c = 0; c < Bf16x8::values; ++c)
#pragma unroll
        for (int v = 0; v < 4; ++v) {
            const int token = lane / 4 + v / 2 * 8;
            const int column = (warp % across * 8 + lane % 4 * 2 + v % 2) * Bf16x8::values + c;
            memory[(turn * tile_tokens + token) * slab_columns + column] = sums[c][v];
        }
    block_barrier();
    const int column = slab * slab_columns + thread_index();
    for (int t = 0; t < job.active.batch && column < job.width; ++t) {
        float sum = 0.0f;
#pragma unroll
        for (int i = 0; i < in_turn; ++i)
            sum += memory[(i * tile_tokens + t) * slab_columns + thread_index()];
        put_part(job, part, parts, t, column, sum);
    }
    if (parts == 1) return;
    add_parts<4>(job, job.counters + slab, 0, job.active.batch, parts, column, column < job.width);
}

}  // namespace assay::kernels::cuda
