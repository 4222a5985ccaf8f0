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

/// A warp's way through the active neurons, every so many'th of them.
class NeuronWalk {
  public:
    int neuron, slot, in_expert;

    ASSAY_DEVICE NeuronWalk(int first, int step, int expert_size)
        : neuron(first),
          slot(first / expert_size),
          in_expert(first - slot * expert_size),
          step_(step),
          slots_of_step_(step / expert_size),
          expert_size_(expert_size) {}
    ASSAY_DEVICE void go_on() {
        neuron += step_;
        slot += slots_of_step_;
        in_expert += step_ - slots_of_step_ * expert_size_;
        if (in_expert >= expert_size_) {
            in_expert -= expert_size_;
            ++slot;
        }
    }

  private:
    int step_, slots_of_step_, expert_size_;
};

/// Asks for a unit of columns of the walk's next neurons before `end`, first for where all of them
/// are, then for all weights: no neuron waits for one before it. `early`: before
/// wait_for_previous_kernel().
template <class Format, bool early, int count>
ASSAY_DEVICE void ask_for_neurons(const DownJob& job, int unit, int end, NeuronWalk& walk,
                                  typename Format::Raw (&raw)[count]) {
    const bool has_columns = unit * Format::values < job.width;
    int row[count];  // or -1
#pragma unroll
    for (int i = 0; i < count; ++i) {
        row[i] = -1;
        if (walk.neuron < end && has_columns) {
            const int expert =
                early ? job.active.expert_of_early(walk.slot) : job.active.expert_of(walk.slot);
            row[i] = expert * job.active.expert_size + walk.in_expert;
        }
        walk.go_on();
    }
    const int row_bytes = static_cast<int>(job.row_bytes);
#pragma unroll
    for (int i = 0; i < count; ++i) {
        raw[i] = {};
        if (row[i] >= 0)
            raw[i] = Format::load(job.down + static_cast<std::ptrdiff_t>(row[i]) * row_bytes, unit);
    }
}

/// Adds to sums those neurons, of which `walk` stands at the first.
template <class Format, int tokens, int count>
ASSAY_DEVICE void add_neurons(const DownJob& job, NeuronWalk walk, int end, int first_token,
                              const typename Format::Raw (&raw)[count],
                              float (&sums)[tokens][Format::values]) {
    constexpr bool keeps = tokens <= 4;  // more would need too many registers
    const int tokens_here = job.active.batch - first_token;
    std::uint32_t used[count];
    const float* activations[count];
    float kept[count][keeps ? tokens : 1];
#pragma unroll
    for (int i = 0; i < count; ++i) {
        used[i] = walk.neuron < end ? job.tokens[walk.slot] >> first_token : 0;
        activations[i] = job.activations +
                         static_cast<std::ptrdiff_t>(walk.neuron) * job.active.batch + first_token;
        if constexpr (keeps)
#pragma unroll
            for (int t = 0; t < tokens; ++t)
                kept[i][t] = walk.neuron < end && t < tokens_here ? activations[i][t] : 0.0f;
        walk.go_on();
    }
#pragma unroll
    for (int i = 0; i < count; ++i) {
        float weights[Format::values];
        Format::decode(raw[i], weights);
#pragma unroll
        for (int t = 0; t < tokens; ++t)
            if (used[i] >> t & 1u) {  // else not even a NaN may come through
                const float activation = keeps ? kept[i][t] : activations[i][t];
#pragma unroll
                for (int v = 0; v < Format::values; ++v) sums[t][v] += activation * weights[v];
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
/// thread a column if `has_column`. The counter is the slab's.
ASSAY_DEVICE void add_parts(const DownJob& job, int* counter, int first_token, int tokens,
                            int parts, int column, bool has_column) {
    constexpr int at_once = 40;  // parts of most networks and GPUs: all are waited for together
    if (!is_last_block(counter, parts) || !has_column) return;
    const std::ptrdiff_t next_part = static_cast<std::ptrdiff_t>(job.active.batch) * job.width;
    for (int t = first_token; t < first_token + tokens; ++t) {
        const float* const of_token =
            job.sums + static_cast<std::ptrdiff_t>(t) * job.width + column;
        float sum = 0.0f;
        for (int first = 0; first < parts; first += at_once) {
            const float* from = of_token + first * next_part;
            float of_part[at_once];
#pragma unroll
            for (int i = 0; i < at_once; ++i, from += next_part)
                of_part[i] = first + i < parts ? load_of_other_block(from) : 0.0f;
#pragma unroll
            for (int i = 0; i < at_once; ++i) sum += of_part[i];
        }
        put_part(job, 0, 1, t, column, sum);
    }
}

/// A part of a slab, by a block of `warps`; the block that ends last in the slab adds the parts.
/// wait(), which all threads call: until activations and tokens are there; the first weights are
/// asked for before. counter: the slab's. memory: [warps][columns of a slab] of block memory.
template <class Format, int tokens, int warps, class Wait>
ASSAY_DEVICE void add_slab_part(const DownJob& job, int slab, int part, int parts, int first_token,
                                int* counter, float* memory, const Wait& wait) {
    constexpr int values = Format::values, slab_columns = lanes * values;
    const int lane = thread_index() % lanes, warp = thread_index() / lanes;
    const int left = job.active.batch - first_token, tokens_here = left < tokens ? left : tokens;
    const int neurons = job.active.neurons(), each = neurons / parts, one_more = neurons % parts;
    const int begin = part * each + (part < one_more ? part : one_more);
    const int end = begin + each + (part < one_more ? 1 : 0);

    NeuronWalk next(begin + warp, warps, job.active.expert_size);
    const int unit = slab * lanes + lane;
    typename Format::Raw raw[down_loads_in_flight(tokens)];
    NeuronWalk asked_for = next;
    ask_for_neurons<Format, true>(job, unit, end, next, raw);
    wait();
    float sums[tokens][values];
#pragma unroll
    for (int t = 0; t < tokens; ++t)
#pragma unroll
        for (int v = 0; v < values; ++v) sums[t][v] = 0.0f;
    while (asked_for.neuron < end) {
        add_neurons<Format, tokens>(job, asked_for, end, first_token, raw, sums);
        asked_for = next;
        ask_for_neurons<Format, false>(job, unit, end, next, raw);
    }

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
    const int column = slab * slab_columns + thread_index();
    add_parts(job, counter, first_token, tokens_here, parts, column,
              thread_index() < slab_columns && column < job.width);
}

template <class Format, int tokens>
ASSAY_KERNEL(down_threads, down_blocks_per_multiprocessor(tokens))
down_kernel(ASSAY_PARAMETER DownJob job) {
    const int slab = block_index().x, group = block_index().z;
    // What is active was known before the kernel before began: it waited for that, and allowed this
    // one only then.
    add_slab_part<Format, tokens, down_warps>(
        job, slab, block_index().y, blocks_in_grid().y, group * tokens,
        job.counters + group * blocks_in_grid().x + slab, block_memory(), [] {
            wait_for_previous_kernel();
            allow_next_kernel();
        });
}

}  // namespace assay::kernels::cuda
