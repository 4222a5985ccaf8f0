// The innermost loops with AVX2, FMA and F16C: a plain read, rows of weights times tokens, neurons'
// rows added to the output.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/stored_weights.hpp"
#include "kernels/gemv/dot_rows.hpp"
#include "kernels/sparse_ffn/add_rows.hpp"

namespace assay::kernels {

/// 8 floats. Compiled with AVX2, FMA and F16C: used by nothing outside this file.
struct Avx2 {
    static constexpr int lanes = 8;
    static constexpr int tokens_together = 1;  ///< 8 sums in 16 registers
    using Vector = __m256;
    typedef std::uint32_t Words __attribute__((vector_size(32)));

    static Vector zero() { return _mm256_setzero_ps(); }
    static Vector load(const float* from) { return _mm256_loadu_ps(from); }
    static void store(float* to, Vector v) { _mm256_storeu_ps(to, v); }
    static Vector broadcast(float a) { return _mm256_set1_ps(a); }
    static Vector multiply_add(Vector a, Vector b, Vector c) { return _mm256_fmadd_ps(a, b, c); }
    static Vector add(Vector a, Vector b) { return _mm256_add_ps(a, b); }
    static float sum(Vector v) {
        __m128 s = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
        s = _mm_add_ps(s, _mm_movehl_ps(s, s));
        return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
    }

    static Vector from_f32(const std::byte* from) {
        return _mm256_loadu_ps(reinterpret_cast<const float*>(from));
    }
    static Vector from_f16(const std::byte* from) { return _mm256_cvtph_ps(bytes_16(from)); }
    static Vector from_bf16(const std::byte* from) {
        return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bytes_16(from)), 16));
    }

    static void from_q8_0(const std::byte* block, Vector* out) {
        const Vector scale = half_at(block);
        for (int i = 0; i < 4; ++i) {
            const __m256i q = _mm256_cvtepi8_epi32(bytes_8(block + 2 + 8 * i));
            out[i] = _mm256_mul_ps(scale, _mm256_cvtepi32_ps(q));
        }
    }
    static void from_q4_0(const std::byte* block, Vector* out) {
        const Vector scale = half_at(block);
        const Vector minimum =
            _mm256_mul_ps(scale, _mm256_set1_ps(-8.0f));  // exact: a power of two
        from_nibbles(block + 2, scale, minimum, out);
    }
    static void from_q4_1(const std::byte* block, Vector* out) {
        from_nibbles(block + 4, half_at(block), half_at(block + 2), out);
    }

  private:
    static __m128i bytes_16(const std::byte* from) {
        return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    }
    static __m128i bytes_8(const std::byte* from) {
        return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
    }
    static Vector half_at(const std::byte* from) {
        std::uint16_t bits;
        __builtin_memcpy(&bits, from, sizeof bits);
        return _mm256_broadcastss_ps(_mm_cvtph_ps(_mm_cvtsi32_si128(bits)));
    }
    static void from_nibbles(const std::byte* from, Vector scale, Vector minimum, Vector* out) {
        for (int i = 0; i < 2; ++i) {
            const __m256i bytes = _mm256_cvtepu8_epi32(bytes_8(from + 8 * i));
            const __m256i low = _mm256_and_si256(bytes, _mm256_set1_epi32(15));
            const __m256i high = _mm256_srli_epi32(bytes, 4);
            out[i] = _mm256_fmadd_ps(scale, _mm256_cvtepi32_ps(low), minimum);
            out[i + 2] = _mm256_fmadd_ps(scale, _mm256_cvtepi32_ps(high), minimum);
        }
    }
};

std::uint32_t avx2_read_stream(const std::byte* from, std::size_t bytes) {
    return read_stream<Avx2>(from, bytes);
}

const DotRowsTable avx2_dot_rows = dot_rows_table<Avx2>();

const AddRowsTable avx2_add_rows = add_rows_table<Avx2>();

}  // namespace assay::kernels
