// What the innermost loops are made of, for any of the vector types (Portable, Avx2, Avx512):
// stored weights as vectors of floats, exactly, and memory that is read in order. Included only by
// the files compiled for one set of instructions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/element_types.hpp"
#include "kernels/cpu/instruction_set.hpp"

namespace assay::kernels {

template <class V, AssayType type>
struct StoredWeights {
    /// Weights that are unpacked at once: one vector of them, or one quantised block.
    static constexpr int step = is_quantised(type) ? weights_per_quantised_block : V::lanes;
    static constexpr int vectors = step / V::lanes;
    static constexpr int bytes = step / weights_per_unit(type) * bytes_per_unit(type);

    static inline void unpack(const std::byte* from, typename V::Vector* out) {
        if constexpr (type == ASSAY_F32) out[0] = V::from_f32(from);
        if constexpr (type == ASSAY_F16) out[0] = V::from_f16(from);
        if constexpr (type == ASSAY_BF16) out[0] = V::from_bf16(from);
        if constexpr (type == ASSAY_Q8_0) V::from_q8_0(from, out);
        if constexpr (type == ASSAY_Q4_0) V::from_q4_0(from, out);
        if constexpr (type == ASSAY_Q4_1) V::from_q4_1(from, out);
    }
    /// The first `count` < step weights of a plain type, zeros behind them; reads no further.
    static inline typename V::Vector unpack_some(const std::byte* from, int count) {
        alignas(64) std::byte padded[bytes] = {};
        __builtin_memcpy(padded, from, static_cast<std::size_t>(count * bytes_per_unit(type)));
        typename V::Vector out[vectors];
        unpack(padded, out);
        return out[0];
    }
};

/// The first `count` < lanes floats, zeros behind them; reads no further.
template <class V>
inline typename V::Vector load_some(const float* from, int count) {
    alignas(64) float padded[V::lanes] = {};
    __builtin_memcpy(padded, from, static_cast<std::size_t>(count) * sizeof(float));
    return V::load(padded);
}

template <class V>
inline void store_some(float* to, int count, typename V::Vector v) {
    alignas(64) float padded[V::lanes];
    V::store(padded, v);
    __builtin_memcpy(to, padded, static_cast<std::size_t>(count) * sizeof(float));
}

// Memory that is read in order: asked for before it is needed, and the plain read that is the
// kernels' ceiling.

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

/// The ceiling's loop (see ReadStream): every byte goes into an exclusive or, which is less work
/// than any kernel does.
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
