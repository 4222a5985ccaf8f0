// Interleaved rows times activations with AVX-512 and VNNI: each lane is a row, so that nothing is
// added across lanes and one conversion serves sixteen rows.
//
// Quantised rows: per block the dot products of the three digits are exact integers; with the
// scales they become floats, which are added up block by block. That is fp32 arithmetic with fewer
// roundings.
#include <immintrin.h>

#include "impls/decode/interleaved/interleaved.hpp"

namespace assay::decode {
namespace {

constexpr int quads = digit_block / 4;  // four columns make one 32-bit lane
constexpr int prefetch_bytes = 2048;

// The quants of sixteen rows and one block as unsigned bytes, and what was added to make them so.
template <AssayType type>
struct Block {
    static constexpr bool has_minimum = type == ASSAY_Q4_1;
    static constexpr int added = type == ASSAY_Q8_0 ? 128 : type == ASSAY_Q4_0 ? 8 : 0;
    static constexpr int header = has_minimum ? 64 : 32;
    static constexpr int bytes = header + (type == ASSAY_Q8_0 ? 512 : 256);

    static void unpack(const std::byte* quants, __m512i* out) {
        if constexpr (type == ASSAY_Q8_0) {
#pragma GCC unroll 8
            for (int q = 0; q < quads; ++q)
                out[q] = _mm512_xor_si512(_mm512_loadu_si512(quants + 64 * q),
                                          _mm512_set1_epi8(static_cast<char>(0x80)));
        } else {
            const __m512i low = _mm512_set1_epi8(15);
#pragma GCC unroll 8
            for (int q = 0; q < quads / 2; ++q) {
                const __m512i both = _mm512_loadu_si512(quants + 64 * q);
                out[q] = _mm512_and_si512(both, low);
                out[q + quads / 2] = _mm512_and_si512(_mm512_srli_epi16(both, 4), low);
            }
        }
    }
};

inline __m512 halves_at(const std::byte* from) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}

inline __m512i quad_at(const std::int8_t* digits) {
    std::int32_t four;
    __builtin_memcpy(&four, digits, sizeof four);
    return _mm512_set1_epi32(four);
}

template <AssayType type, int tokens>
void multiply_tokens(const std::byte* group, int columns, const DigitBlock* const* x, float* y,
                     int stride) {
    using B = Block<type>;
    __m512 total[tokens];
#pragma GCC unroll 8
    for (int t = 0; t < tokens; ++t) total[t] = _mm512_setzero_ps();
    for (int b = 0; b < columns / digit_block; ++b, group += B::bytes) {
#pragma GCC unroll 16
        for (int line = 0; line < B::bytes; line += 64)
            __builtin_prefetch(group + prefetch_bytes + line);
        __m512i quants[quads];
        B::unpack(group + B::header, quants);
        const __m512 scale = halves_at(group);
#pragma GCC unroll 8
        for (int t = 0; t < tokens; ++t) {
            const DigitBlock& block = x[t][b];
            __m512i sums[digit_count];
#pragma GCC unroll 3
            for (int d = 0; d < digit_count; ++d) {
                sums[d] = B::added ? _mm512_set1_epi32(-B::added * block.digit_sums[d])
                                   : _mm512_setzero_si512();
#pragma GCC unroll 8
                for (int q = 0; q < quads; ++q)
                    sums[d] =
                        _mm512_dpbusd_epi32(sums[d], quants[q], quad_at(block.digits[d] + 4 * q));
            }
            const __m512 high =
                _mm512_cvtepi32_ps(_mm512_add_epi32(_mm512_slli_epi32(sums[0], 8), sums[1]));
            const __m512 whole =
                _mm512_fmadd_ps(high, _mm512_set1_ps(256.0f), _mm512_cvtepi32_ps(sums[2]));
            total[t] =
                _mm512_fmadd_ps(_mm512_mul_ps(whole, _mm512_set1_ps(block.scale)), scale, total[t]);
            if constexpr (B::has_minimum)
                total[t] =
                    _mm512_fmadd_ps(halves_at(group + 32), _mm512_set1_ps(block.sum), total[t]);
        }
    }
#pragma GCC unroll 8
    for (int t = 0; t < tokens; ++t) _mm512_storeu_ps(y + t * stride, total[t]);
}

template <AssayType type>
void multiply_type(const std::byte* group, int columns, const DigitBlock* const* x, int tokens,
                   float* y, int stride) {
    for (; tokens >= 4; tokens -= 4, x += 4, y += 4 * stride)
        multiply_tokens<type, 4>(group, columns, x, y, stride);
    for (; tokens >= 1; --tokens, ++x, y += stride)
        multiply_tokens<type, 1>(group, columns, x, y, stride);
}

void multiply(AssayType type, const std::byte* group, int columns, const DigitBlock* const* x,
              int tokens, float* y, int stride) {
    if (type == ASSAY_Q8_0) return multiply_type<ASSAY_Q8_0>(group, columns, x, tokens, y, stride);
    if (type == ASSAY_Q4_0) return multiply_type<ASSAY_Q4_0>(group, columns, x, tokens, y, stride);
    multiply_type<ASSAY_Q4_1>(group, columns, x, tokens, y, stride);
}

// A 16-bit float is the upper half of a 32-bit one: of two neighbours in a lane the first is
// shifted up, the second has the first masked out.
template <int tokens>
void multiply_bf16_tokens(const std::byte* group, int columns, const float* const* x, float* y,
                          int stride) {
    constexpr int sums = 4;  // so that no addition waits for the one before
    __m512 partial[tokens][sums];
#pragma GCC unroll 16
    for (int i = 0; i < tokens * sums; ++i) partial[i / sums][i % sums] = _mm512_setzero_ps();
    const __m512i upper = _mm512_set1_epi32(static_cast<int>(0xffff0000u));
    const auto add_pair = [&](int column, int sum) {
        const __m512i both = _mm512_loadu_si512(group + 32 * column);
        const __m512 first = _mm512_castsi512_ps(_mm512_slli_epi32(both, 16));
        const __m512 second = _mm512_castsi512_ps(_mm512_and_si512(both, upper));
#pragma GCC unroll 8
        for (int t = 0; t < tokens; ++t) {
            partial[t][sum] = _mm512_fmadd_ps(first, _mm512_set1_ps(x[t][column]), partial[t][sum]);
            partial[t][sum + 1] =
                _mm512_fmadd_ps(second, _mm512_set1_ps(x[t][column + 1]), partial[t][sum + 1]);
        }
    };
    int column = 0;
    for (; column + 4 <= columns; column += 4) {
        __builtin_prefetch(group + 32 * column + prefetch_bytes);
        __builtin_prefetch(group + 32 * column + prefetch_bytes + 64);
        add_pair(column, 0);
        add_pair(column + 2, 2);
    }
    if (column < columns) add_pair(column, 0);
#pragma GCC unroll 8
    for (int t = 0; t < tokens; ++t)
        _mm512_storeu_ps(y + t * stride,
                         _mm512_add_ps(_mm512_add_ps(partial[t][0], partial[t][1]),
                                       _mm512_add_ps(partial[t][2], partial[t][3])));
}

void multiply_bf16(const std::byte* group, int columns, const float* const* x, int tokens, float* y,
                   int stride) {
    for (; tokens >= 4; tokens -= 4, x += 4, y += 4 * stride)
        multiply_bf16_tokens<4>(group, columns, x, y, stride);
    for (; tokens >= 1; --tokens, ++x, y += stride)
        multiply_bf16_tokens<1>(group, columns, x, y, stride);
}

// Digits of sixteen whole numbers below 127·65536 in magnitude.
inline void split(__m512i whole, int at, DigitBlock& block, __m512i* sums) {
    const auto last_digit = [](__m512i v) {
        return _mm512_srai_epi32(_mm512_slli_epi32(v, 24), 24);
    };
#pragma GCC unroll 3
    for (int d = digit_count - 1; d >= 0; --d) {
        const __m512i digit = d > 0 ? last_digit(whole) : whole;
        _mm_store_si128(reinterpret_cast<__m128i*>(block.digits[d] + at),
                        _mm512_cvtepi32_epi8(digit));
        sums[d] = _mm512_add_epi32(sums[d], digit);
        whole = _mm512_srai_epi32(_mm512_sub_epi32(whole, digit), 8);
    }
}

void digits(const float* x, int columns, DigitBlock* out) {
    // With room for the carries of signed digits.
    constexpr float largest = 127.0f * 65536.0f;
    for (; columns > 0; columns -= digit_block, x += digit_block, ++out) {
        const __m512 low = _mm512_loadu_ps(x), high = _mm512_loadu_ps(x + 16);
        const float most =
            _mm512_reduce_max_ps(_mm512_max_ps(_mm512_abs_ps(low), _mm512_abs_ps(high)));
        out->sum = _mm512_reduce_add_ps(_mm512_add_ps(low, high));
        // A sum that is no number makes the scale none; the maximum alone would hide a NaN.
        out->scale = most / largest + (out->sum - out->sum);
        const __m512 inverse = _mm512_set1_ps(most > 1e-30f ? largest / most : 0.0f);
        __m512i sums[digit_count] = {_mm512_setzero_si512(), _mm512_setzero_si512(),
                                     _mm512_setzero_si512()};
        split(_mm512_cvtps_epi32(_mm512_mul_ps(low, inverse)), 0, *out, sums);
        split(_mm512_cvtps_epi32(_mm512_mul_ps(high, inverse)), 16, *out, sums);
        for (int d = 0; d < digit_count; ++d) out->digit_sums[d] = _mm512_reduce_add_epi32(sums[d]);
    }
}

}  // namespace

const InterleavedProducts vnni_products{digits, multiply, multiply_bf16};

}  // namespace assay::decode
