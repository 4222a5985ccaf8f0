// Stored weights to vectors of floats, exactly, for any of the vector types (Portable, Avx2,
// Avx512). Included only by the files compiled for one set of instructions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/element_types.hpp"

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

}  // namespace assay::kernels
