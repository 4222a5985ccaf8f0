// The kernels of a decode step without a model, in whole numbers, the same bits on every machine:
// a row's state is 32 words of 64 bits, each layer mixes them with its weights and with what the
// cache holds of all positions before. A wrong address, a stale buffer, a kernel too early or a
// wrong parameter anywhere gives other tokens. An index out of range goes round, so that wrong
// metadata gives wrong tokens rather than a fault, and sizes are hashed, too. nvcc compiles this
// for GPUs (decode_kernels.cu), a host compiler for the emulation.
//
// A block of 32 threads does a row, a thread a word of it. `batch` is how many rows there are;
// there is a block for each, and of toy_head some more, which do nothing.
#pragma once

#include "kernels/cuda/device/machine.hpp"

/// A kernel has its bare name in images. Loops stay loops there: small images matter more than
/// time.
#ifdef __CUDACC__
#define ASSAY_ROLLED _Pragma("unroll 1")
#define ASSAY_TOY_KERNEL \
    extern "C" __global__ void __launch_bounds__(::assay::foundry::toy::row_words)
#else
#define ASSAY_ROLLED
#define ASSAY_TOY_KERNEL inline void
#endif

namespace assay::foundry::toy {

namespace machine = kernels::cuda;

constexpr int row_words = machine::lanes;
constexpr int block_positions = 16;  ///< of a block of the cache
constexpr int splits = 4;            ///< of attention, where it is split
constexpr int descriptor_words = 8;
/// Dynamic shared memory of a block of attention: a word of each thread.
constexpr int attention_shared_bytes = row_words * 8;

ASSAY_DEVICE std::uint64_t mixed(std::uint64_t hash, std::uint64_t with) {
    hash = (hash ^ (with + 0x9e3779b97f4a7c15ULL)) * 0xbf58476d1ce4e5b9ULL;
    return hash ^ (hash >> 29);
}
ASSAY_DEVICE int wrapped(int index, int below) {
    return static_cast<int>(static_cast<unsigned>(index) % static_cast<unsigned>(below));
}
/// 0 where it is as it should be; else what spoils a hash.
ASSAY_DEVICE std::uint64_t spoiled(int is, int should_be) {
    const auto beside = static_cast<std::uint64_t>(is) - static_cast<std::uint64_t>(should_be);
    return beside * 0x94d049bb133111ebULL;
}
/// 0 where there is a block for each row.
ASSAY_DEVICE std::uint64_t spoiled_grid(const int* batch) {
    return spoiled(machine::blocks_in_grid().x, *batch);
}
ASSAY_DEVICE std::size_t word_at(int row, int word) {
    return static_cast<std::size_t>(row) * row_words + static_cast<std::size_t>(word);
}

/// Where the positions of the rows' sequences are in the cache.
struct Places {
    const int* positions;    ///< [rows] of the token to decode
    const int* block_table;  ///< [rows][table_blocks]
    int table_blocks;
    int cache_blocks;

    ASSAY_DEVICE int position(int row) const {
        return wrapped(positions[row], table_blocks * block_positions);
    }
    ASSAY_DEVICE std::uint64_t sizes() const {
        return static_cast<std::uint64_t>(table_blocks) << 32 |
               static_cast<std::uint64_t>(cache_blocks);
    }
    ASSAY_DEVICE int slot(int row, int position) const {
        const int block = block_table[row * table_blocks + position / block_positions];
        return wrapped(block, cache_blocks) * block_positions + position % block_positions;
    }
};

/// slots [rows][2]: of a row's position and of the one before (-1: none).
ASSAY_TOY_KERNEL toy_slots(int* slots, Places places, const int* batch) {
    const int row = machine::block_index().x;
    if (row >= *batch || machine::thread_index() != 0) return;
    const int position = places.position(row);
    const int round = places.cache_blocks * block_positions;  // toy_keys takes that off
    slots[2 * row] = static_cast<int>(static_cast<unsigned>(places.slot(row, position) + round) +
                                      static_cast<unsigned>(spoiled_grid(batch) >> 32));
    slots[2 * row + 1] = position > 0 ? places.slot(row, position - 1) : -1;
}

/// hidden [rows][32], embedding [vocabulary].
ASSAY_TOY_KERNEL toy_embed(std::uint64_t* hidden, const int* tokens, const std::uint64_t* embedding,
                           int vocabulary, const int* batch) {
    const int row = machine::block_index().x, word = machine::thread_index();
    if (row >= *batch) return;
    hidden[word_at(row, word)] =
        mixed(embedding[wrapped(tokens[row], vocabulary)] + static_cast<std::uint64_t>(vocabulary),
              static_cast<std::uint64_t>(word)) ^
        spoiled_grid(batch);
}

/// Each word of `normed` with all of a row's `hidden`. weights [32].
ASSAY_TOY_KERNEL toy_norm(std::uint64_t* normed, const std::uint64_t* hidden,
                          const std::uint64_t* weights, const int* batch) {
    const int row = machine::block_index().x, word = machine::thread_index();
    if (row >= *batch) return;
    std::uint64_t all = spoiled_grid(batch);
    ASSAY_ROLLED
    for (int other = 0; other < row_words; ++other) all = 31 * all + hidden[word_at(row, other)];
    normed[word_at(row, word)] = mixed(hidden[word_at(row, word)] + all, weights[word]);
}

/// query [rows][32], and the row's position in cache [slots][2]: its key, and a value that is a
/// hash of all positions before. weights [3][32].
ASSAY_TOY_KERNEL toy_keys(std::uint64_t* query, std::uint64_t* cache, const std::uint64_t* normed,
                          const std::uint64_t* weights, const int* slots, int cache_blocks,
                          const int* batch) {
    const int row = machine::block_index().x, word = machine::thread_index();
    if (row >= *batch) return;
    query[word_at(row, word)] =
        mixed(normed[word_at(row, word)], weights[word]) ^ spoiled_grid(batch);
    if (word != 0) return;
    std::uint64_t key = 0, value = static_cast<std::uint64_t>(cache_blocks);
    ASSAY_ROLLED
    for (int each = 0; each < row_words; ++each) {
        key = mixed(key + normed[word_at(row, each)], weights[row_words + each]);
        value = mixed(value + normed[word_at(row, each)], weights[2 * row_words + each]);
    }
    const int slot = wrapped(slots[2 * row], cache_blocks * block_positions);
    const int before = slots[2 * row + 1];
    const std::uint64_t history =
        before < 0 ? 0 : cache[2 * wrapped(before, cache_blocks * block_positions) + 1];
    cache[2 * slot] = key;
    cache[2 * slot + 1] = mixed(history, value);
}

/// Over a row's positions from `first` on, every `step`-th.
ASSAY_DEVICE std::uint64_t attention_sum(const std::uint64_t* query, const std::uint64_t* cache,
                                         const Places& places, int row, int first, int step) {
    std::uint64_t sum = 0;
    ASSAY_ROLLED
    for (int position = first; position <= places.position(row); position += step) {
        const int slot = places.slot(row, position);
        sum += mixed(cache[2 * slot] ^ query[word_at(row, position % row_words)],
                     cache[2 * slot + 1] + static_cast<std::uint64_t>(position) + places.sizes());
    }
    return sum;
}
/// Of what each thread has, in all threads.
ASSAY_DEVICE std::uint64_t block_sum(std::uint64_t mine) {
    auto* const shared = reinterpret_cast<std::uint64_t*>(machine::block_memory());
    shared[machine::thread_index()] = mine;
    machine::block_barrier();
    std::uint64_t sum = 0;
    ASSAY_ROLLED
    for (int thread = 0; thread < row_words; ++thread) sum += shared[thread];
    return sum;
}

/// attended [rows][32].
ASSAY_TOY_KERNEL toy_attend(std::uint64_t* attended, const std::uint64_t* query,
                            const std::uint64_t* cache, Places places, const int* batch) {
    const int row = machine::block_index().x, word = machine::thread_index();
    if (row >= *batch) return;
    const std::uint64_t sum =
        block_sum(attention_sum(query, cache, places, row, word, row_words)) + spoiled_grid(batch);
    attended[word_at(row, word)] = mixed(sum, query[word_at(row, word)]);
}

/// partials [rows][splits] of a row's sum, a block each, which counts itself in `counters` [rows].
ASSAY_TOY_KERNEL toy_attend_split(std::uint64_t* partials, int* counters,
                                  const std::uint64_t* query, const std::uint64_t* cache,
                                  Places places, const int* batch) {
    const int row = machine::block_index().x, split = machine::block_index().y;
    if (row >= *batch) return;
    const int word = machine::thread_index();
    const std::uint64_t sum = block_sum(
        attention_sum(query, cache, places, row, split * row_words + word, splits * row_words));
    if (word != 0) return;
    partials[row * splits + split] = sum + spoiled_grid(batch);
    machine::count_one(counters + row);
}

/// attended, of the partial sums. Counters that are not all splits, no more and no fewer, spoil it:
/// they have to be 0 before the first step, and this sets them back.
ASSAY_TOY_KERNEL toy_attend_reduce(std::uint64_t* attended, const std::uint64_t* partials,
                                   int* counters, const std::uint64_t* query, const int* batch) {
    const int row = machine::block_index().x, word = machine::thread_index();
    if (row >= *batch) return;
    std::uint64_t sum = spoiled(counters[row], splits) + spoiled_grid(batch);
    ASSAY_ROLLED
    for (int split = 0; split < splits; ++split) sum += partials[row * splits + split];
    machine::block_barrier();
    if (word == 0) counters[row] = 0;
    attended[word_at(row, word)] = mixed(sum, query[word_at(row, word)]);
}

/// An address at an offset that is no multiple of 8, as packed argument structs have them.
struct PackedAddress {
    std::uint32_t low, high;
};

struct MlpJob {
    int layer;
    PackedAddress residual;  ///< [rows], 64 bits each; 0 before the first layer
    int rows;
    std::uint64_t* hidden;          ///< [rows][32], read and written
    const std::uint64_t* attended;  ///< [rows][32]
    const std::uint64_t* weights;   ///< [32]
    const int* batch;
};
ASSAY_TOY_KERNEL toy_mlp(MlpJob job) {
    const int row = machine::block_index().x, word = machine::thread_index();
    if (row >= *job.batch) return;
    const std::uint64_t next = job.attended[word_at(row, (word + 1) % row_words)];
    std::uint64_t& hidden = job.hidden[word_at(row, word)];
    hidden = mixed(
        hidden + job.attended[word_at(row, word)],
        job.weights[word] + next + spoiled(job.rows, *job.batch) + 2 * spoiled_grid(job.batch));
    if (word != 0) return;
    auto* const residual = reinterpret_cast<std::uint64_t*>(
        static_cast<std::uint64_t>(job.residual.high) << 32 | job.residual.low);
    residual[row] += mixed(job.attended[word_at(row, 0)], static_cast<std::uint64_t>(job.layer));
}

/// Aligned as the descriptors are that GPUs copy tiles by, which hold an address among other bits.
struct alignas(64) HeadJob {
    std::uint64_t descriptor[descriptor_words];
    const std::uint64_t* weights;  ///< [32]
    const std::uint64_t* hidden;   ///< [rows][32]
    const std::uint64_t* residual;
    std::uint64_t* logits;  ///< [rows][32]
    int rows;
    int unused[7];  ///< 0: the same bytes each time
};
ASSAY_TOY_KERNEL toy_head(const int* batch, ASSAY_PARAMETER HeadJob job) {
    const int row = machine::block_index().x, word = machine::thread_index();
    if (row < *batch && row < job.rows)
        job.logits[word_at(row, word)] =
            mixed((job.hidden[word_at(row, word)] + job.weights[word]) ^ spoiled(job.rows, *batch),
                  job.residual[row] ^ job.descriptor[word % descriptor_words]);
    machine::allow_next_kernel();
}

/// sampled [rows], of `vocabulary`. random: seed and offset. May start before toy_head ends.
ASSAY_TOY_KERNEL toy_sample(int* sampled, const std::uint64_t* logits, const std::uint64_t* random,
                            const int* positions, int vocabulary, int rows, const int* batch) {
    machine::wait_for_previous_kernel();
    const int row = machine::block_index().x;
    if (row >= *batch || machine::thread_index() != 0) return;
    std::uint64_t hash = mixed(random[0], random[1] + static_cast<std::uint64_t>(positions[row])) ^
                         (spoiled(rows, *batch) + 2 * spoiled_grid(batch));
    ASSAY_ROLLED
    for (int word = 0; word < row_words; ++word) hash = mixed(hash, logits[word_at(row, word)]);
    sampled[row] = static_cast<int>((hash >> 32) * static_cast<std::uint64_t>(vocabulary) >> 32);
}

}  // namespace assay::foundry::toy
