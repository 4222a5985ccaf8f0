// The loops with AVX2, FMA and F16C: sixteen lanes are two vectors.
#include <immintrin.h>

#include "impls/decode/cpu/loop_bodies.hpp"

namespace assay::decode {
namespace {

struct Avx2 {
    struct Floats {
        __m256 low, high;
    };
    struct Ints {
        __m256i low, high;
    };
    using Quants = Ints;

    /// Tokens that rows of floats are multiplied with at a time.
    static constexpr int floats_together = 2;

    static Floats no_floats() { return broadcast(0.0f); }
    static Floats load(const float* from) {
        return {_mm256_loadu_ps(from), _mm256_loadu_ps(from + 8)};
    }
    static void store(float* to, Floats v) {
        _mm256_storeu_ps(to, v.low);
        _mm256_storeu_ps(to + 8, v.high);
    }
    static Floats broadcast(float a) { return {_mm256_set1_ps(a), _mm256_set1_ps(a)}; }
    static Floats plus(Floats a, Floats b) {
        return {_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)};
    }
    static Floats minus(Floats a, Floats b) {
        return {_mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high)};
    }
    static Floats times(Floats a, Floats b) {
        return {_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)};
    }
    static Floats over(Floats a, Floats b) {
        return {_mm256_div_ps(a.low, b.low), _mm256_div_ps(a.high, b.high)};
    }
    static Floats fused(Floats a, Floats b, Floats c) {
        return {_mm256_fmadd_ps(a.low, b.low, c.low), _mm256_fmadd_ps(a.high, b.high, c.high)};
    }
    /// The second where either is NaN.
    static Floats largest_of(Floats a, Floats b) {
        return {_mm256_max_ps(a.low, b.low), _mm256_max_ps(a.high, b.high)};
    }
    static Floats smallest_of(Floats a, Floats b) {
        return {_mm256_min_ps(a.low, b.low), _mm256_min_ps(a.high, b.high)};
    }
    static Floats magnitude(Floats a) {
        const __m256 sign = _mm256_set1_ps(-0.0f);
        return {_mm256_andnot_ps(sign, a.low), _mm256_andnot_ps(sign, a.high)};
    }
    static float largest(Floats a) {
        const __m256 eight = _mm256_max_ps(a.low, a.high);
        __m128 m = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
        m = _mm_max_ps(m, _mm_movehl_ps(m, m));
        return _mm_cvtss_f32(_mm_max_ss(m, _mm_movehdup_ps(m)));
    }
    static float sum(Floats a) {
        const __m256 eight = _mm256_add_ps(a.low, a.high);
        __m128 s = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
        s = _mm_add_ps(s, _mm_movehl_ps(s, s));
        return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
    }
    static bool any_nan(Floats a) {
        return (_mm256_movemask_ps(_mm256_cmp_ps(a.low, a.low, _CMP_UNORD_Q)) |
                _mm256_movemask_ps(_mm256_cmp_ps(a.high, a.high, _CMP_UNORD_Q))) != 0;
    }
    static Floats zero_where_less(Floats a, Floats than, Floats v) {
        return {_mm256_and_ps(_mm256_cmp_ps(a.low, than.low, _CMP_NLT_UQ), v.low),
                _mm256_and_ps(_mm256_cmp_ps(a.high, than.high, _CMP_NLT_UQ), v.high)};
    }
    static Floats times_power_of_two(Floats a, Ints n) {
        const auto power = [](__m256i of) {
            return _mm256_castsi256_ps(
                _mm256_slli_epi32(_mm256_add_epi32(of, _mm256_set1_epi32(127)), 23));
        };
        return times(a, {power(n.low), power(n.high)});
    }
    static void pairs_of_bf16(const std::byte* from, Floats& first, Floats& second) {
        const Ints both = ints_at(from);
        const __m256i upper = _mm256_set1_epi32(static_cast<int>(0xffff0000u));
        first = {_mm256_castsi256_ps(_mm256_slli_epi32(both.low, 16)),
                 _mm256_castsi256_ps(_mm256_slli_epi32(both.high, 16))};
        second = {_mm256_castsi256_ps(_mm256_and_si256(both.low, upper)),
                  _mm256_castsi256_ps(_mm256_and_si256(both.high, upper))};
    }
    /// Rounded to nearest, to even; a NaN stays one.
    static void store_bf16(std::uint16_t* to, Floats a) {
        const auto half = [](__m256 of) {
            const __m256i bits = _mm256_castps_si256(of), upper = _mm256_srli_epi32(bits, 16);
            const __m256i less = _mm256_add_epi32(_mm256_and_si256(upper, _mm256_set1_epi32(1)),
                                                  _mm256_set1_epi32(0x7fff));
            const __m256i rounded = _mm256_srli_epi32(_mm256_add_epi32(bits, less), 16);
            const __m256i quiet = _mm256_or_si256(upper, _mm256_set1_epi32(0x40));
            return _mm256_blendv_epi8(rounded, quiet,
                                      _mm256_castps_si256(_mm256_cmp_ps(of, of, _CMP_UNORD_Q)));
        };
        // Packs within halves of vectors: fours of each by turns.
        const __m256i packed = _mm256_packus_epi32(half(a.low), half(a.high));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                            _mm256_permute4x64_epi64(packed, _MM_SHUFFLE(3, 1, 2, 0)));
    }
    static Floats from_halves(const std::byte* from) {
        return {_mm256_cvtph_ps(bytes_16(from)), _mm256_cvtph_ps(bytes_16(from + 16))};
    }

    static Ints no_ints() { return broadcast(0); }
    static Ints broadcast(int a) { return {_mm256_set1_epi32(a), _mm256_set1_epi32(a)}; }
    static Ints plus(Ints a, Ints b) {
        return {_mm256_add_epi32(a.low, b.low), _mm256_add_epi32(a.high, b.high)};
    }
    static Ints minus(Ints a, Ints b) {
        return {_mm256_sub_epi32(a.low, b.low), _mm256_sub_epi32(a.high, b.high)};
    }
    static Ints times_256(Ints a) {
        return {_mm256_slli_epi32(a.low, 8), _mm256_slli_epi32(a.high, 8)};
    }
    static Ints over_256(Ints a) {
        return {_mm256_srai_epi32(a.low, 8), _mm256_srai_epi32(a.high, 8)};
    }
    static Ints signed_low_byte(Ints a) {
        return {_mm256_srai_epi32(_mm256_slli_epi32(a.low, 24), 24),
                _mm256_srai_epi32(_mm256_slli_epi32(a.high, 24), 24)};
    }
    static int sum(Ints a) {
        std::int32_t each[8];
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(each), _mm256_add_epi32(a.low, a.high));
        int all = 0;
        for (const std::int32_t one : each) all += one;
        return all;
    }
    static Ints rounded(Floats a) {
        return {_mm256_cvtps_epi32(a.low), _mm256_cvtps_epi32(a.high)};
    }
    static Floats to_floats(Ints a) {
        return {_mm256_cvtepi32_ps(a.low), _mm256_cvtepi32_ps(a.high)};
    }
    static void store_bytes(std::int8_t* to, Ints a) {
        std::int32_t each[lanes];
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(each), a.low);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(each + 8), a.high);
        for (int i = 0; i < lanes; ++i) to[i] = static_cast<std::int8_t>(each[i]);
    }

    static Quants shifted_bytes(const std::byte* from) {
        const Ints bytes = ints_at(from);
        const __m256i sign = _mm256_set1_epi8(static_cast<char>(0x80));
        return {_mm256_xor_si256(bytes.low, sign), _mm256_xor_si256(bytes.high, sign)};
    }
    static void halves_of_bytes(const std::byte* from, Quants& low, Quants& high) {
        const Ints both = ints_at(from);
        const __m256i mask = _mm256_set1_epi8(15);
        low = {_mm256_and_si256(both.low, mask), _mm256_and_si256(both.high, mask)};
        high = {_mm256_and_si256(_mm256_srli_epi16(both.low, 4), mask),
                _mm256_and_si256(_mm256_srli_epi16(both.high, 4), mask)};
    }
    /// Sums of two products fit 16 bits where the quants have four; else bytes become 16 bits.
    template <bool of_four_bits>
    static Ints dot(Ints sum, Quants quants, const std::int8_t* digits) {
        std::int32_t four;
        __builtin_memcpy(&four, digits, sizeof four);
        const __m256i x = _mm256_set1_epi32(four);
        const auto add = [&](__m256i to, __m256i q) {
            if constexpr (of_four_bits) {
                return _mm256_add_epi32(
                    to, _mm256_madd_epi16(_mm256_maddubs_epi16(q, x), _mm256_set1_epi16(1)));
            } else {
                const __m256i even =
                    _mm256_madd_epi16(_mm256_and_si256(q, _mm256_set1_epi16(255)),
                                      _mm256_srai_epi16(_mm256_slli_epi16(x, 8), 8));
                const __m256i odd =
                    _mm256_madd_epi16(_mm256_srli_epi16(q, 8), _mm256_srai_epi16(x, 8));
                return _mm256_add_epi32(to, _mm256_add_epi32(even, odd));
            }
        };
        return {add(sum.low, quants.low), add(sum.high, quants.high)};
    }

  private:
    static __m128i bytes_16(const std::byte* from) {
        return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    }
    static Ints ints_at(const std::byte* from) {
        return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)),
                _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + 32))};
    }
};

}  // namespace

extern const Loops avx2_loops;
const Loops avx2_loops = loops_of<Avx2>("avx2");

}  // namespace assay::decode
