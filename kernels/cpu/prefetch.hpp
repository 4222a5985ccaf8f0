// Asking for weights before they are needed.
#pragma once

#include <cstddef>

namespace assay::kernels {

/// How far ahead of its use memory that is read in order is asked for, in bytes: into the second
/// cache, from where the processor's own prefetching takes it on. (Asking for the first cache, 1
/// KiB ahead, measured half the bandwidth on Zen 4: it holds too few lines in flight.)
constexpr std::size_t prefetch_bytes_ahead = 8192;

inline void prefetch_into_second_cache(const std::byte* at) {
    constexpr int read = 0, second_cache = 2;
    __builtin_prefetch(at, read, second_cache);
}

/// Rows that are read in order, and what is read after them.
struct RowsInOrder {
    const std::byte* end;
    const std::byte* next;

    /// What to ask for while `row` is read, byte for byte.
    const std::byte* ahead_of(const std::byte* row) const {
        const std::byte* const ahead = row + prefetch_bytes_ahead;
        return ahead < end ? ahead : next + (ahead - end);
    }
};

}  // namespace assay::kernels
