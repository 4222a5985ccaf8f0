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
    int row_bytes;
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

/// Where a part of the active neurons ends. Beyond it the last neuron is asked for once more, and
/// not added: conditions would be held for every load, and there are few places for them.
struct PartEnd {
    int neuron, last_slot, last_neuron;
    ASSAY_DEVICE PartEnd(int end, int slots)
        : neuron(end), last_slot(slots - 1), last_neuron(end > 0 ? end - 1 : 0) {}
    ASSAY_DEVICE int slot_of(const NeuronWalk& walk) const {
        return walk.slot < last_slot ? walk.slot : last_slot;
    }
    ASSAY_DEVICE int neuron_of(const NeuronWalk& walk) const {
        return walk.neuron < last_neuron ? walk.neuron : last_neuron;
    }
};

/// A warp's next neurons: a unit of columns of their weights, and how much they count for which
/// tokens. All that is asked for arrives together: no neuron waits for one before it.
template <class Format, int tokens>
class NeuronBatch {
    static constexpr int count = down_loads_in_flight(tokens);
    static constexpr bool keeps = tokens <= 4;  ///< more would need too many registers

  public:
    /// Of the walk's neurons before the end. `early`: their weights alone, before
    /// wait_for_previous_kernel().
    template <bool early>
    ASSAY_DEVICE void ask(const DownJob& job, int unit, const PartEnd& end, int first_token,
                          NeuronWalk& walk) {
        NeuronWalk at = walk;
        int expert[count];
#pragma unroll
        for (int i = 0; i < count; ++i, walk.go_on())
            expert[i] = job.active.id<early>(end.slot_of(walk));
        if constexpr (!early) ask_for_activations(job, end, first_token, at);
        const int end_here = unit * Format::values < job.width ? end.neuron : 0;
#pragma unroll
        for (int i = 0; i < count; ++i, at.go_on()) {
            const int row =
                job.active.in_network(expert[i]) * job.active.expert_size + at.in_expert;
            const std::byte* const weights = row_at(job.down, row, job.row_bytes);
            raw_[i] = {};
            if (at.neuron < end_here) raw_[i] = Format::template load<early>(weights, unit);
        }
    }
    /// `walk`: at the first.
    ASSAY_DEVICE void ask_for_activations(const DownJob& job, const PartEnd& end, int first_token,
                                          NeuronWalk walk) {
        const int last_token = job.active.batch - first_token - 1;
#pragma unroll
        for (int i = 0; i < count; ++i, walk.go_on()) {
            std::uint32_t used = job.tokens[end.slot_of(walk)] >> first_token & all_tokens;
            if (walk.neuron >= end.neuron) used = 0;
            if (i % sets_of_word == 0) used_[i / sets_of_word] = 0;
            used_[i / sets_of_word] |= used << i % sets_of_word * tokens;
            const float* const activations =
                job.activations +
                static_cast<std::ptrdiff_t>(end.neuron_of(walk)) * job.active.batch + first_token;
            if constexpr (keeps)
#pragma unroll
                for (int t = 0; t < tokens; ++t)
                    kept_[i][t] = activations[t < last_token ? t : last_token];
            else
                activations_[i] = activations;
        }
    }
    ASSAY_DEVICE void add_to(float (&sums)[tokens][Format::values]) const {
#pragma unroll
        for (int i = 0; i < count; ++i) {
            float weights[Format::values];
            Format::decode(raw_[i], weights);
#pragma unroll
            for (int t = 0; t < tokens; ++t)
                if (used_[i / sets_of_word] >> (i % sets_of_word * tokens + t) & 1u) {
                    // Else not even a NaN may come through.
                    const float activation = keeps ? kept_[i][t] : activations_[i][t];
#pragma unroll
                    for (int v = 0; v < Format::values; ++v) sums[t][v] += activation * weights[v];
                }
        }
    }

  private:
    static constexpr std::uint32_t all_tokens = (1u << tokens) - 1u;
    static constexpr int sets_of_word = 32 / tokens;  ///< of tokens
    typename Format::Raw raw_[count];
    std::uint32_t used_[(count + sets_of_word - 1) / sets_of_word];
    const float* activations_[keeps ? 1 : count];
    float kept_[count][keeps ? tokens : 1];
};

/// A part of a column's sum to where parts are added up, or the whole sum, where there is one part.
ASSAY_DEVICE void put_part(const DownJob& job, int part, int parts, int token, int column,
                           float sum) {
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(token) * job.width + column;
    if (parts == 1)
        job.y[at] = job.bias ? sum + job.bias[column] : sum;
    else
        job.sums[static_cast<std::ptrdiff_t>(part) * job.active.batch * job.width + at] = sum;
}

/// In the block of a slab that ends last: adds the parts in their order, for some tokens,
/// `together` at a time, each thread a column if `has_column`. The counter is the slab's.
template <int together>
ASSAY_DEVICE void add_parts(const DownJob& job, int* counter, int first_token, int tokens,
                            int parts, int column, bool has_column) {
    // What most networks and GPUs have is waited for together.
    constexpr int at_once = together == 1 ? 40 : 16;
    if (!is_last_block(counter, parts) || !has_column) return;
    const std::ptrdiff_t next_part = static_cast<std::ptrdiff_t>(job.active.batch) * job.width;
    const int end = first_token + tokens;
    for (int token = first_token; token < end; token += together) {
        float sums[together] = {};
        for (int first = 0; first < parts; first += at_once) {
            const float* from = job.sums + first * next_part +
                                static_cast<std::ptrdiff_t>(token) * job.width + column;
            float of_part[at_once][together];
#pragma unroll
            for (int i = 0; i < at_once; ++i, from += next_part)
#pragma unroll
                for (int t = 0; t < together; ++t)
                    of_part[i][t] = first + i < parts && token + t < end
                                        ? load_of_other_block(from + t * job.width)
                                        : 0.0f;
#pragma unroll
            for (int i = 0; i < at_once; ++i)
#pragma unroll
                for (int t = 0; t < together; ++t) sums[t] += of_part[i][t];
        }
        for (int t = 0; t < together && token + t < end; ++t)
            put_part(job, 0, 1, token + t, column, sums[t]);
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
    const int slots = job.active.slots(), neurons = slots * job.active.expert_size;
    const int each = neurons / parts, one_more = neurons % parts;
    const int begin = part * each + (part < one_more ? part : one_more);
    const PartEnd end(begin + each + (part < one_more ? 1 : 0), slots);

    const int unit = slab * lanes + lane;
    NeuronWalk next(begin + warp, warps, job.active.expert_size);
    NeuronWalk asked_for = next;
    NeuronBatch<Format, tokens> batch;
    // Where nothing is active there may be no list of it.
    if (slots > 0) batch.template ask<true>(job, unit, end, first_token, next);
    wait();
    if (slots > 0) batch.ask_for_activations(job, end, first_token, asked_for);
    float sums[tokens][values];
#pragma unroll
    for (int t = 0; t < tokens; ++t)
#pragma unroll
        for (int v = 0; v < values; ++v) sums[t][v] = 0.0f;
    while (asked_for.neuron < end.neuron) {
        batch.add_to(sums);
        asked_for = next;
        batch.template ask<false>(job, unit, end, first_token, next);
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
    add_parts<tokens == 1 ? 1 : 4>(job, counter, first_token, tokens_here, parts, column,
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
