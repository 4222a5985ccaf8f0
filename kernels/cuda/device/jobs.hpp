// Lets the block that ends last continue with what all have written: one launch less.
#pragma once

#include "kernels/assay_kernels.h"
#include "kernels/cuda/device/machine.hpp"
#include "kernels/cuda/device/rows_kernel.hpp"
#include "kernels/sparse_ffn/activation.hpp"

namespace assay::kernels::cuda {

/// True in the last of `blocks` blocks that get here, for all its threads; `counter` is 0 before
/// and after. What the others wrote before this call is read with load_of_other_block().
ASSAY_DEVICE bool is_last_block(int* counter, int blocks) {
    block_barrier();
    bool last = false;
    if (thread_index() == 0) {
        last = count_one(counter) == blocks - 1;
        if (last) *counter = 0;
    }
    return block_count(last) > 0;
}

// GEMV, router and gate/up as jobs of rows_kernel.hpp.

struct GemvJob {
    static constexpr int matrices = 1;
    static constexpr bool rows_are_known = true;
    const std::byte* weights;
    int row_bytes;
    int rows_in_all;
    const float* bias;
    float* y;

    ASSAY_DEVICE int rows() const { return rows_in_all; }
    ASSAY_DEVICE const std::byte* row(int, int r) const { return row_at(weights, r, row_bytes); }
    ASSAY_DEVICE void finish(int r, int token, const float (&sums)[1]) const {
        y[static_cast<std::ptrdiff_t>(token) * rows_in_all + r] =
            bias ? sums[0] + bias[r] : sums[0];
    }
    ASSAY_DEVICE void end_of_block(int, float*) const {}
};

/// The mask by all blocks; the list of the union by the last.
struct RouterJob {
    static constexpr int matrices = 1;
    static constexpr bool rows_are_known = true;
    const std::byte* weights;
    int row_bytes;
    int experts, batch;
    float logit_threshold;
    std::uint8_t* mask;
    std::int32_t* active;
    std::int32_t* active_count;
    int* counter;  ///< 0

    ASSAY_DEVICE int rows() const { return experts; }
    ASSAY_DEVICE const std::byte* row(int, int r) const { return row_at(weights, r, row_bytes); }
    ASSAY_DEVICE void finish(int expert, int token, const float (&sums)[1]) const {
        // Negated, so that a NaN activates and reaches the output instead of vanishing.
        mask[static_cast<std::ptrdiff_t>(token) * experts + expert] = !(sums[0] <= logit_threshold);
    }
    ASSAY_DEVICE void end_of_block(int, float* memory) const {
        if (is_last_block(counter, blocks_in_grid().x * blocks_in_grid().y))
            list_active(reinterpret_cast<int*>(memory));
    }

    /// The ascending ids, by ballots and a sum over the warps before. counts: one int per warp.
    ASSAY_DEVICE void list_active(int* counts) const {
        const int lane = thread_index() % lanes, warp = thread_index() / lanes;
        int listed = 0;
        for (int first = 0; first < experts; first += rows_threads) {
            const int expert = first + thread_index();
            bool any = false;
            for (int t = 0; t < batch && expert < experts; ++t)
                any = load_of_other_block(mask + static_cast<std::ptrdiff_t>(t) * experts +
                                          expert) != 0 ||
                      any;
            const std::uint32_t ballot = warp_ballot(any);
            if (lane == 0) counts[warp] = bits_set(ballot);
            block_barrier();
            int before = listed;
            for (int w = 0; w < rows_warps; ++w) {
                if (w < warp) before += counts[w];
                listed += counts[w];
            }
            const std::uint32_t lower_lanes = (1u << lane) - 1u;
            if (any) active[before + bits_set(ballot & lower_lanes)] = expert;
            block_barrier();
        }
        if (thread_index() == 0) *active_count = listed;
    }
};

/// The active experts, as the device has them. Ids and counts outside the network are ignored: the
/// host never sees them.
struct ActiveExperts {
    const std::int32_t* ids;
    const std::int32_t* count;
    const std::uint8_t* mask;  ///< or null
    int experts, expert_size, batch;

    ASSAY_DEVICE int slots() const {
        const int stated = load_of_other_block(count);
        return stated < 0 ? 0 : stated > experts ? experts : stated;
    }
    ASSAY_DEVICE int neurons() const { return slots() * expert_size; }
    ASSAY_DEVICE int expert_of(int slot) const { return in_network(id<false>(slot)); }
    /// `early`: before wait_for_previous_kernel(), in a kernel that may. What the multiprocessor
    /// has kept can be older.
    template <bool early>
    ASSAY_DEVICE int id(int slot) const {
        return early ? load_of_other_block(ids + slot) : ids[slot];
    }
    ASSAY_DEVICE int in_network(int expert) const {
        return expert >= 0 && expert < experts ? expert : 0;
    }
    /// Bit t: token t uses the expert in this slot.
    ASSAY_DEVICE std::uint32_t tokens_of(int slot) const {
        const int expert = ids[slot];
        if (expert < 0 || expert >= experts) return 0;
        if (!mask) return (1u << batch) - 1u;
        std::uint32_t tokens = 0;
        for (int t = 0; t < batch; ++t)
            tokens |= (mask[static_cast<std::ptrdiff_t>(t) * experts + expert] != 0 ? 1u : 0u) << t;
        return tokens;
    }
};

/// gated: with gate and up, else up alone. Also writes each active expert's set of tokens.
template <bool gated>
struct GateUpJob {
    static constexpr int matrices = gated ? 2 : 1;
    static constexpr bool rows_are_known = false;
    ActiveExperts active;
    const std::byte* gate;
    const std::byte* up;
    int row_bytes;
    const float* up_bias;
    AssayActivation activation;
    float* activations;     ///< [active neurons][batch]
    std::uint32_t* tokens;  ///< [active experts]
    const std::byte* down;  ///< with rows like those of up
    int prefetch_bytes;     ///< of down, by all blocks

    ASSAY_DEVICE int rows() const { return active.neurons(); }
    ASSAY_DEVICE int neuron(int r) const {
        const int slot = r / active.expert_size;
        return active.expert_of(slot) * active.expert_size + (r - slot * active.expert_size);
    }
    ASSAY_DEVICE const std::byte* row(int matrix, int r) const {
        return row_at(gated && matrix == 0 ? gate : up, neuron(r), row_bytes);
    }
    ASSAY_DEVICE void finish(int r, int token, const float (&sums)[matrices]) const {
        const float value = up_bias ? sums[matrices - 1] + up_bias[neuron(r)] : sums[matrices - 1];
        activations[static_cast<std::ptrdiff_t>(r) * active.batch + token] =
            activate(gated ? ASSAY_SWIGLU : activation, gated ? sums[0] : 0.0f, value);
        if (token == 0 && r % active.expert_size == 0)
            tokens[r / active.expert_size] = active.tokens_of(r / active.expert_size);
    }
    /// While others come to their end, and the next launch begins, memory could be idle.
    ASSAY_DEVICE void end_of_block(int rows, float*) const {
        const int r = block_index().x + thread_index() / lanes * blocks_in_grid().x;
        if (prefetch_bytes == 0 || block_index().y > 0 || r >= rows) return;
        const int piece = prefetched_piece(prefetch_bytes, rows);
        prefetch_row(row_at(down, neuron(r), row_bytes), piece < row_bytes ? piece : row_bytes);
    }
};

}  // namespace assay::kernels::cuda
