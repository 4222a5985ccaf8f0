// Memory for weights that are streamed, and how fast it can be read: the ceiling of kernels that
// read weights once.
#pragma once

#include <cstddef>
#include <memory>

#include "kernels/cpu/instruction_set.hpp"
#include "kernels/cpu/worker_pool.hpp"

namespace assay::kernels {

struct FreeStreamedMemory {
    void operator()(std::byte* memory) const;
};
using StreamedMemory = std::unique_ptr<std::byte[], FreeStreamedMemory>;

/// Uninitialised; aligned to large pages and backed by them where the machine gives them on
/// request, so that address translation does not limit the bandwidth. Throws std::bad_alloc.
StreamedMemory allocate_streamed(std::size_t bytes);

/// bytes of streamed_read_seconds() must be a multiple of this.
constexpr std::size_t streamed_read_piece = 256 * 1024;

/// Reads memory with all threads of a pool, as the kernels do: the same shares, the same distance
/// of prefetching, the widest vectors, and less arithmetic than any of them. Seconds that it took.
double streamed_read_seconds(WorkerPool& pool, const InstructionSet& instructions,
                             const std::byte* memory, std::size_t bytes);

/// Bytes per second that `threads` threads (0: all allowed cores) read from `megabytes` (10^6
/// bytes) of memory, in order, with this processor's widest vectors: the median of nine passes
/// after one that warms up. Take several times the last cache. The memory is backed by large pages
/// where the machine gives them on request. Throws std::bad_alloc.
double measured_read_bandwidth(int threads, int megabytes = 512);

}  // namespace assay::kernels
