// The read ceiling's loop (see ReadStream): every byte of memory goes into an exclusive or, which
// is less work than any kernel does.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/prefetch.hpp"

namespace assay::kernels {

template <class V>
std::uint32_t read_stream(const std::byte* from, std::size_t bytes) {
    using Words = typename V::Words;
    constexpr int streams = 4;
    constexpr std::size_t at_once = streams * sizeof(Words);
    Words all[streams] = {};
    for (const std::byte* const end = from + bytes; from < end; from += at_once) {
#pragma GCC unroll 4
        for (std::size_t line = 0; line < at_once; line += 64)
            prefetch_into_second_cache(from + prefetch_bytes_ahead + line);
#pragma GCC unroll 4
        for (int s = 0; s < streams; ++s) {
            Words words;
            __builtin_memcpy(&words, from + static_cast<std::size_t>(s) * sizeof words,
                             sizeof words);
            all[s] ^= words;
        }
    }
    const Words together = all[0] ^ all[1] ^ all[2] ^ all[3];
    std::uint32_t result = 0;
    for (int lane = 0; lane < V::lanes; ++lane) result ^= together[lane];
    return result;
}

}  // namespace assay::kernels
