// Vectors of sixteen lanes with AVX-512 and int8 dot products (VNNI): the V of loop_bodies.hpp.
// Included only by files that are compiled for them.
#pragma once

#include <immintrin.h>

#include "impls/decode/cpu/loop_bodies.hpp"

namespace assay::decode {
namespace {

struct Vnni {
    using Floats = __m512;
    using Ints = __m512i;
    using Quants = __m512i;

    /// Tokens that rows of floats are multiplied with at a time.
    static constexpr int floats_together = 4;

    static Floats no_floats() { return _mm512_setzero_ps(); }
    static Floats load(const float* from) { return _mm512_loadu_ps(from); }
    static void store(float* to, Floats v) { _mm512_storeu_ps(to, v); }
    static Floats broadcast(float a) { return _mm512_set1_ps(a); }
    static Floats plus(Floats a, Floats b) { return _mm512_add_ps(a, b); }
    static Floats minus(Floats a, Floats b) { return _mm512_sub_ps(a, b); }
    static Floats times(Floats a, Floats b) { return _mm512_mul_ps(a, b); }
    static Floats over(Floats a, Floats b) { return _mm512_div_ps(a, b); }
    static Floats fused(Floats a, Floats b, Floats c) { return _mm512_fmadd_ps(a, b, c); }
    /// The second where either is NaN.
    static Floats largest_of(Floats a, Floats b) { return _mm512_max_ps(a, b); }
    static Floats smallest_of(Floats a, Floats b) { return _mm512_min_ps(a, b); }
    static Floats magnitude(Floats a) { return _mm512_abs_ps(a); }
    static float largest(Floats a) { return _mm512_reduce_max_ps(a); }
    static float sum(Floats a) { return _mm512_reduce_add_ps(a); }
    static bool any_nan(Floats a) { return _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q) != 0; }
    static Floats zero_where_less(Floats a, Floats than, Floats v) {
        return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(a, than, _CMP_NLT_UQ), v);
    }
    static Floats times_power_of_two(Floats a, Ints n) {
        return _mm512_mul_ps(a, _mm512_castsi512_ps(_mm512_slli_epi32(
                                    _mm512_add_epi32(n, _mm512_set1_epi32(127)), 23)));
    }
    static void pairs_of_bf16(const std::byte* from, Floats& first, Floats& second) {
        const __m512i both = _mm512_loadu_si512(from);
        first = _mm512_castsi512_ps(_mm512_slli_epi32(both, 16));
        second = _mm512_castsi512_ps(
            _mm512_and_si512(both, _mm512_set1_epi32(static_cast<int>(0xffff0000u))));
    }
    /// Rounded to nearest, to even; a NaN stays one.
    static void store_bf16(std::uint16_t* to, Floats a) {
        const __m512i bits = _mm512_castps_si512(a), upper = _mm512_srli_epi32(bits, 16);
        const __m512i less = _mm512_add_epi32(_mm512_and_si512(upper, _mm512_set1_epi32(1)),
                                              _mm512_set1_epi32(0x7fff));
        const __m512i rounded = _mm512_srli_epi32(_mm512_add_epi32(bits, less), 16);
        const __m512i quiet = _mm512_or_si512(upper, _mm512_set1_epi32(0x40));
        const __m512i kept =
            _mm512_mask_mov_epi32(rounded, _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q), quiet);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_cvtepi32_epi16(kept));
    }
    static Floats from_halves(const std::byte* from) { return _mm512_cvtph_ps(bytes_32(from)); }

    static Ints no_ints() { return _mm512_setzero_si512(); }
    static Ints broadcast(int a) { return _mm512_set1_epi32(a); }
    static Ints plus(Ints a, Ints b) { return _mm512_add_epi32(a, b); }
    static Ints minus(Ints a, Ints b) { return _mm512_sub_epi32(a, b); }
    static Ints times_256(Ints a) { return _mm512_slli_epi32(a, 8); }
    static Ints over_256(Ints a) { return _mm512_srai_epi32(a, 8); }
    static Ints signed_low_byte(Ints a) { return _mm512_srai_epi32(_mm512_slli_epi32(a, 24), 24); }
    static int sum(Ints a) { return _mm512_reduce_add_epi32(a); }
    static Ints rounded(Floats a) { return _mm512_cvtps_epi32(a); }
    static Floats to_floats(Ints a) { return _mm512_cvtepi32_ps(a); }
    static void store_bytes(std::int8_t* to, Ints a) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_cvtepi32_epi8(a));
    }

    static Quants shifted_bytes(const std::byte* from) {
        return _mm512_xor_si512(_mm512_loadu_si512(from),
                                _mm512_set1_epi8(static_cast<char>(0x80)));
    }
    static void halves_of_bytes(const std::byte* from, Quants& low, Quants& high) {
        const __m512i both = _mm512_loadu_si512(from), mask = _mm512_set1_epi8(15);
        low = _mm512_and_si512(both, mask);
        high = _mm512_and_si512(_mm512_srli_epi16(both, 4), mask);
    }
    static void store_quants(std::uint8_t* to, Quants q) { _mm512_storeu_si512(to, q); }
    static Ints load_ints(const std::int32_t* from) { return _mm512_loadu_si512(from); }
    template <bool of_four_bits>
    static Ints dot(Ints sum, Quants quants, const std::int8_t* digits) {
        std::int32_t four;
        __builtin_memcpy(&four, digits, sizeof four);
        return _mm512_dpbusd_epi32(sum, quants, _mm512_set1_epi32(four));
    }

  private:
    static __m256i bytes_32(const std::byte* from) {
        return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    }
};

}  // namespace

}  // namespace assay::decode
