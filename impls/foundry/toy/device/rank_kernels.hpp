// The collective of a decode step over several ranks, in each layer: each rank holds a share of the
// words of what attention gives, and adds all ranks' shares in the order of their ranks. Sums are
// of whole numbers, so that the step decodes what one process decodes, bit for bit.
//
// Ranks share memory that is symmetric: rank r's heap lies at `first` + r · `stride`, in each
// process. A rank writes its own heap alone, and reads all:
//
//     flags [rows]           how often the rank has put its share of a row there
//     parts [2][rows][32]    the share, in turns: a rank that puts the next but one has seen all
//                            others put the next, so they have added what lies there
//
// Two kernels, so that no block waits before all blocks of its rank have put their share.
#pragma once

#include "impls/foundry/toy/device/decode_kernels.hpp"

#ifndef __CUDACC__
#include <sched.h>

#include <atomic>
#endif

namespace assay::foundry::toy {

/// What other processes wrote before they released it is seen after.
ASSAY_DEVICE std::uint64_t acquire_from_ranks(const std::uint64_t* from) {
#ifdef __CUDACC__
    std::uint64_t value;
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
    return value;
#else
    return std::atomic_ref(*const_cast<std::uint64_t*>(from)).load(std::memory_order_acquire);
#endif
}
ASSAY_DEVICE void release_to_ranks(std::uint64_t* to, std::uint64_t value) {
#ifdef __CUDACC__
    asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
#else
    std::atomic_ref(*to).store(value, std::memory_order_release);
#endif
}
/// Between two looks at another rank's flag, whose process may need this processor.
ASSAY_DEVICE void let_other_ranks() {
#ifdef __CUDACC__
    __nanosleep(100);
#else
    sched_yield();
#endif
}

/// 64-bit words of a rank's heap.
ASSAY_DEVICE std::size_t heap_words(int most_rows) {
    return static_cast<std::size_t>(most_rows) * (1 + 2 * row_words);
}
/// Where a row's word is put, behind the flags of all rows.
ASSAY_DEVICE std::size_t part_at(std::uint64_t turn, int most_rows, int row, int word) {
    const auto rows = static_cast<std::size_t>(most_rows);
    return rows + (turn % 2) * rows * row_words + word_at(row, word);
}

struct ShareJob {
    std::uint64_t* own;             ///< this rank's heap
    const std::uint64_t* attended;  ///< [rows][32]
    const int* batch;
    int rank, ranks, most_rows;
    int unused;  ///< 0
};
ASSAY_TOY_KERNEL toy_share(ShareJob job) {
    const int row = machine::block_index().x, word = machine::thread_index();
    if (row >= *job.batch) return;
    const std::uint64_t turn = job.own[row] + 1;
    job.own[part_at(turn, job.most_rows, row, word)] =
        word % job.ranks == job.rank ? job.attended[word_at(row, word)] + spoiled_grid(job.batch)
                                     : 0;
    machine::block_barrier();
    if (word == 0) release_to_ranks(job.own + row, turn);
}

struct SumJob {
    const std::uint64_t* own;
    const std::uint64_t* first;  ///< rank 0's heap
    std::uint64_t stride;        ///< bytes from one rank's heap to the next one's
    std::uint64_t* attended;     ///< [rows][32]
    const int* batch;
    int ranks, most_rows;
};
ASSAY_TOY_KERNEL toy_sum(SumJob job) {
    const int row = machine::block_index().x, word = machine::thread_index();
    if (row >= *job.batch) return;
    const std::uint64_t turn = acquire_from_ranks(job.own + row);
    std::uint64_t sum = spoiled_grid(job.batch);
    ASSAY_ROLLED
    for (int rank = 0; rank < job.ranks; ++rank) {
        const std::uint64_t* const heap =
            job.first + static_cast<std::size_t>(rank) * (job.stride / sizeof *job.first);
        while (acquire_from_ranks(heap + row) < turn) let_other_ranks();
        sum += acquire_from_ranks(heap + part_at(turn, job.most_rows, row, word));
    }
    job.attended[word_at(row, word)] = sum;
}

}  // namespace assay::foundry::toy
