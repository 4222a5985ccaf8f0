// What the active neurons add to the output. A block owns a slab of columns, 32 units wide, and a
// part of the neurons; its warps take neurons in turn, 32 lanes of a neuron's row beside each
// other. The block that ends last adds the slab's parts, in their order: no atomics on values, and
// the same bits every time.
#pragma once

#include "kernels/cuda/device/jobs.hpp"

namespace assay::kernels::cuda {

struct DownJob {
    ActiveExperts active;
    const std::byte* down;
    std::ptrdiff_t row_bytes;
    int width;
    const float* bias;         ///< [width] or null
    const float* activations;  ///< GateUpJob's
    const std::uint32_t* tokens;
    float* sums;    ///< [parts][batch][width]
    int* counters;  ///< [token groups][slabs], 0
    float* y;       ///< [batch][width]
};

/// A warp's way through the active neurons, in steps of so many warps.
struct NeuronWalk {
    int neuron, slot, in_expert;

    ASSAY_DEVICE NeuronWalk(int first, int expert_size)
        : neuron(first), slot(first / expert_size), in_expert(first - slot * expert_size) {}
    ASSAY_DEVICE void step(int expert_size, int warps) {
        neuron += warps;
        in_expert += warps;
        while (in_expert >= expert_size) {
            in_expert -= expert_size;
            ++slot;
        }
    }
};

/// Adds this warp's neurons from..end of a unit of columns to sums; `warps` share them.
template <class Format, int tokens, int warps>
ASSAY_DEVICE void add_neurons(const DownJob& job, int unit, int from, int end, int first_token,
                              float (&sums)[tokens][Format::values]) {
    constexpr int in_flight = down_loads_in_flight(tokens);
    const int expert_size = job.active.expert_size;
    NeuronWalk walk(from, expert_size);
    while (walk.neuron < end) {
        typename Format::Raw raw[in_flight] = {};
        std::uint32_t used[in_flight];
        const float* activations[in_flight];
#pragma unroll
        for (int i = 0; i < in_flight; ++i) {
            used[i] = 0;
            activations[i] = job.activations;
            if (walk.neuron < end) {
                used[i] = job.tokens[walk.slot] >> first_token;
                activations[i] +=
                    static_cast<std::ptrdiff_t>(walk.neuron) * job.active.batch + first_token;
                const std::ptrdiff_t row =
                    static_cast<std::ptrdiff_t>(job.active.expert_of(walk.slot)) * expert_size +
                    walk.in_expert;
                if (unit * Format::values < job.width)
                    raw[i] = Format::load(job.down + row * job.row_bytes, unit);
            }
            walk.step(expert_size, warps);
        }
#pragma unroll
        for (int i = 0; i < in_flight; ++i) {
            float weights[Format::values];
            Format::decode(raw[i], weights);
#pragma unroll
            for (int t = 0; t < tokens; ++t)
                if (used[i] >> t & 1u) {  // else not even a NaN may come through
                    const float activation = activations[i][t];
#pragma unroll
                    for (int v = 0; v < Format::values; ++v) sums[t][v] += activation * weights[v];
                }
        }
    }
}

/// A part of a column's sum to where parts are added up, or the whole sum, where there is one part.
ASSAY_DEVICE void put_part(const DownJob& job, int part, int parts, int token, int column,
                           float sum) {
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(token) * job.width + column;
    if (parts == 1)
        job.y[at] = job.bias ? sum + job.bias[column] : sum;
    else
        job.sums[static_cast<std::ptrdiff_t>(part) * job.active.batch * job.width + at] = sum;
}

/// In the block of a slab that ends last: adds the parts in their order, for some tokens, each
/// thread a column if `has_column`. The counter is the slab's; block memory is free.
ASSAY_DEVICE void add_parts(const DownJob& job, int* counter, int first_token, int tokens,
                            int parts, int column, bool has_column, float* memory) {
    if (!is_last_block(counter, parts, memory) || !has_column) return;
    for (int t = first_token; t < first_token + tokens; ++t) {
        float sum = 0.0f;
#pragma unroll 8
        for (int p = 0; p < parts; ++p)
            sum += load_of_other_block(
                job.sums + (p * static_cast<std::ptrdiff_t>(job.active.batch) + t) * job.width +
                column);
        put_part(job, 0, 1, t, column, sum);
    }
}

/// A part of a slab, by a block of `warps`; the block that ends last in the slab adds the parts.
/// counter: the slab's. memory: [warps][columns of a slab] of block memory.
template <class Format, int tokens, int warps>
ASSAY_DEVICE void add_slab_part(const DownJob& job, int slab, int part, int parts, int first_token,
                                int* counter, float* memory) {
    constexpr int values = Format::values, slab_columns = lanes * values;
    const int lane = thread_index() % lanes, warp = thread_index() / lanes;
    const int left = job.active.batch - first_token, tokens_here = left < tokens ? left : tokens;
    const std::int64_t neurons = job.active.neurons();
    const int begin = static_cast<int>(neurons * part / parts);
    const int end = static_cast<int>(neurons * (part + 1) / parts);

    float sums[tokens][values];
#pragma unroll
    for (int t = 0; t < tokens; ++t)
#pragma unroll
        for (int v = 0; v < values; ++v) sums[t][v] = 0.0f;
    add_neurons<Format, tokens, warps>(job, slab * lanes + lane, begin + warp, end, first_token,
                                       sums);

    // The warps' sums, one token after the other, through block memory.
#pragma unroll
    for (int t = 0; t < tokens; ++t) {
        block_barrier();
#pragma unroll
        for (int v = 0; v < values; ++v)
            memory[warp * slab_columns + lane * values + v] = sums[t][v];
        block_barrier();
        const int column = slab * slab_columns + thread_index();
        if (t < tokens_here && thread_index() < slab_columns && column < job.width) {
            float sum = 0.0f;
#pragma unroll
            for (int w = 0; w < warps; ++w) sum += memory[w * slab_columns + thread_index()];
            put_part(job, part, parts, first_token + t, column, sum);
        }
    }
    if (parts == 1) return;
    block_barrier();  // memory is the flag's now
    const int column = slab * slab_columns + thread_index();
    add_parts(job, counter, first_token, tokens_here, parts, column,
              thread_index() < slab_columns && column < job.width, memory);
}

template <class Format, int tokens>
ASSAY_KERNEL(down_threads, down_blocks_per_multiprocessor(tokens))
down_kernel(ASSAY_PARAMETER DownJob job) {
    const int slab = block_index().x, group = block_index().z;
    wait_for_previous_kernel();
    allow_next_kernel();
    add_slab_part<Format, tokens, down_warps>(
        job, slab, block_index().y, blocks_in_grid().y, group * tokens,
        job.counters + group * blocks_in_grid().x + slab, block_memory());
}

}  // namespace assay::kernels::cuda
