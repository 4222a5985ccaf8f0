// The innermost loops with AVX-512: a plain read, rows of weights times tokens, neurons' rows added
// to the output.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/stored_weights.hpp"
#include "kernels/gemv/dot_rows.hpp"
#include "kernels/sparse_ffn/add_rows.hpp"

namespace assay::kernels {

/// 16 floats. Compiled with AVX-512 F, BW, VL and DQ: used by nothing outside this file.
struct Avx512 {
    static constexpr int lanes = 16;
    static constexpr int tokens_together = 2;  ///< 2 × 8 sums in 32 registers
    using Vector = __m512;
    typedef std::uint32_t Words __attribute__((vector_size(64)));

    static Vector zero() { return _mm512_setzero_ps(); }
    static Vector load(const float* from) { return _mm512_loadu_ps(from); }
    static void store(float* to, Vector v) { _mm512_storeu_ps(to, v); }
    static Vector broadcast(float a) { return _mm512_set1_ps(a); }
    static Vector multiply_add(Vector a, Vector b, Vector c) { return _mm512_fmadd_ps(a, b, c); }
    static Vector add(Vector a, Vector b) { return _mm512_add_ps(a, b); }
    static float sum(Vector v) {
        const __m256 halves =
            _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
        __m128 s = _mm_add_ps(_mm256_castps256_ps128(halves), _mm256_extractf128_ps(halves, 1));
        s = _mm_add_ps(s, _mm_movehl_ps(s, s));
        return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
    }

    static Vector from_f32(const std::byte* from) { return _mm512_loadu_ps(from); }
    static Vector from_f16(const std::byte* from) { return _mm512_cvtph_ps(bytes_32(from)); }
    static Vector from_bf16(const std::byte* from) {
        return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bytes_32(from)), 16));
    }

    static void from_q8_0(const std::byte* block, Vector* out) {
        const Vector scale = half_at(block);
        for (int i = 0; i < 2; ++i) {
            const __m512i q = _mm512_cvtepi8_epi32(bytes_16(block + 2 + 16 * i));
            out[i] = _mm512_mul_ps(scale, _mm512_cvtepi32_ps(q));
        }
    }
    static void from_q4_0(const std::byte* block, Vector* out) {
        const Vector minus_8_up =
            _mm512_setr_ps(-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7);
        look_up(block + 2, _mm512_mul_ps(half_at(block), minus_8_up), out);
    }
    static void from_q4_1(const std::byte* block, Vector* out) {
        const Vector values = _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        std::int32_t bits;
        __builtin_memcpy(&bits, block, sizeof bits);
        const __m128 header = _mm_cvtph_ps(_mm_cvtsi32_si128(bits));  // scale, minimum
        const Vector scale = _mm512_broadcastss_ps(header);
        const Vector minimum = _mm512_broadcastss_ps(_mm_movehdup_ps(header));
        look_up(block + 4, _mm512_fmadd_ps(scale, values, minimum), out);
    }

  private:
    static __m256i bytes_32(const std::byte* from) {
        return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    }
    static __m128i bytes_16(const std::byte* from) {
        return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    }
    static Vector half_at(const std::byte* from) {
        std::uint16_t bits;
        __builtin_memcpy(&bits, from, sizeof bits);
        return _mm512_broadcastss_ps(_mm_cvtph_ps(_mm_cvtsi32_si128(bits)));
    }
    /// A block's 16 possible weights fit one register, and the permutation looks only at the low 4
    /// bits of an index: neither masks nor conversions are needed.
    static void look_up(const std::byte* nibbles, Vector weights, Vector* out) {
        const __m512i bytes = _mm512_cvtepu8_epi32(bytes_16(nibbles));
        out[0] = _mm512_permutexvar_ps(bytes, weights);
        out[1] = _mm512_permutexvar_ps(_mm512_srli_epi32(bytes, 4), weights);
    }
};

std::uint32_t avx512_read_stream(const std::byte* from, std::size_t bytes) {
    return read_stream<Avx512>(from, bytes);
}

const DotRowsTable avx512_dot_rows = dot_rows_table<Avx512>();

const AddRowsTable avx512_add_rows = add_rows_table<Avx512>();

}  // namespace assay::kernels
