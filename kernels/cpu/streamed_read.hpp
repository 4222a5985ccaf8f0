// Reads memory with all threads of a pool, as the kernels do: the same shares, the same distance of
// prefetching, the widest vectors, and less arithmetic than any of them.
#pragma once

#include <cstddef>

#include "kernels/cpu/instruction_set.hpp"
#include "kernels/cpu/worker_pool.hpp"

namespace assay::kernels {

/// bytes must be a multiple of this.
constexpr std::size_t streamed_read_piece = 256 * 1024;

/// Seconds that one pass over the memory took.
double streamed_read_seconds(WorkerPool& pool, const InstructionSet& instructions,
                             const std::byte* memory, std::size_t bytes);

}  // namespace assay::kernels
