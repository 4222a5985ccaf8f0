// How the sparse FFN's work is cut, what a call must look like and the memory it needs. Only the
// chunks decide the order of sums; they depend on how many experts there are, never on which are
// active, on threads or on the other tokens.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/assay_kernels.h"

namespace assay::kernels {

constexpr int most_chunks = 32;
/// Chunks of a network's experts; each with an active one has private sums, added in ascending
/// order at the end. Few enough that these cost little beside the weights.
constexpr int chunk_count(int experts) {
    return std::clamp(experts / 4, std::min(experts, 8), most_chunks);
}

/// The first expert that belongs to `chunk`; chunk = chunks gives the end.
constexpr int chunk_begin(int chunk, int chunks, int experts) {
    return static_cast<int>(static_cast<std::int64_t>(experts) * chunk / chunks);
}

/// Items that a region should have for each thread.
constexpr int items_per_thread = 6;
/// Shorter pieces of a row or of an expert would interrupt the reading of memory in order.
constexpr int least_slab_columns = 1024, least_neurons = 8;

/// Columns of the output that one item computes. Whole rows if possible; with several tokens less,
/// so that their sums stay in the first cache.
constexpr int slab_columns(int width, int batch, int chunks, int threads) {
    const int slabs = std::max(1, items_per_thread * threads / std::max(1, chunks));
    const int most = batch == 1 ? 8192 : 2048;
    const int wanted = (width + slabs - 1) / slabs;
    return std::clamp((wanted + 63) / 64 * 64, least_slab_columns, most);
}

/// How the first half is cut: into runs of experts that one thread reads one after the other, or,
/// where there are few experts for many threads, into parts of experts.
struct FirstHalf {
    int experts;  ///< of one item
    int neurons;  ///< of each of these experts
    int parts;    ///< an expert's items; 1 where experts > 1
    int items;
};
constexpr FirstHalf first_half(int expert_size, int active, int threads) {
    const int wanted = items_per_thread * threads;
    if (active == 0) return {1, expert_size, 1, 0};
    if (active >= wanted || threads == 1) {
        const int runs = threads == 1 ? 1 : wanted;
        const int experts = (active + runs - 1) / runs;
        return {experts, expert_size, 1, (active + experts - 1) / experts};
    }
    const int parts_wanted = (wanted + active - 1) / active;
    const int neurons = std::max((expert_size + parts_wanted - 1) / parts_wanted,
                                 std::min(expert_size, least_neurons));
    const int parts = (expert_size + neurons - 1) / neurons;
    return {1, neurons, parts, active * parts};
}

// What a sparse FFN call must look like, and the memory it needs.

AssayStatus check_sparse_ffn(AssayContext& context, const AssaySparseFfn& call);
/// Floats at the start of the workspace: the activations of every neuron for every token. Padded,
/// so that what follows is aligned.
std::size_t activation_floats(const AssayFfn& ffn, int batch);

}  // namespace assay::kernels
