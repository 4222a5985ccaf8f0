// The loops' text, for a vector type V of sixteen lanes. Included only by the files compiled for
// one set of instructions (vnni.cpp, avx2.cpp, portable.cpp), each with a V of its own and
// -ffp-contract=off: what is fused is written so.
//
// V: Floats and Ints, sixteen each; Quants: the quants of sixteen rows and four columns; and the
// operations used below.
#pragma once

#include <cstddef>
#include <cstdint>

#include "impls/decode/cpu/loops.hpp"

namespace assay::decode {

constexpr int quads = digit_block / 4;  // four columns make one 32-bit lane
/// Weights are asked for so far ahead, into the second cache: as the kernels do
/// (prefetch_bytes_ahead). Beside tiles, by as many blocks as are unpacked together.
constexpr int prefetch_bytes = 8192;
constexpr int second_cache = 2;

// exp(x) of sixteen numbers after Cephes' expf: 2^n · polynomial(x − n ln 2). Zero below
// −87, at most exp(88); NaN stays NaN.
template <class V>
inline typename V::Floats exponential(typename V::Floats x) {
    using Floats = typename V::Floats;
    const Floats least = V::broadcast(-87.0f);
    const Floats held = V::largest_of(least, V::smallest_of(V::broadcast(88.0f), x));
    const typename V::Ints n = V::rounded(V::times(held, V::broadcast(1.44269504088896341f)));
    const Floats whole = V::to_floats(n);
    Floats r = V::fused(whole, V::broadcast(-0.693359375f), held);
    r = V::fused(whole, V::broadcast(2.12194440e-4f), r);
    Floats p = V::broadcast(1.9875691500e-4f);
    p = V::fused(p, r, V::broadcast(1.3981999507e-3f));
    p = V::fused(p, r, V::broadcast(8.3334519073e-3f));
    p = V::fused(p, r, V::broadcast(4.1665795894e-2f));
    p = V::fused(p, r, V::broadcast(1.6666665459e-1f));
    p = V::fused(p, r, V::broadcast(5.0000001201e-1f));
    p = V::plus(V::fused(p, V::times(r, r), r), V::broadcast(1.0f));
    return V::zero_where_less(x, least, V::times_power_of_two(p, n));
}

// --- products with quantised rows

template <AssayType type>
struct Block {
    static constexpr bool has_minimum = type == ASSAY_Q4_1;
    /// To the quants, so that they are unsigned bytes.
    static constexpr int added = type == ASSAY_Q8_0 ? 128 : type == ASSAY_Q4_0 ? 8 : 0;
    static constexpr int header = has_minimum ? 64 : 32;
    static constexpr int bytes = header + (type == ASSAY_Q8_0 ? 512 : 256);
};

// Of one block of sixteen rows.
template <class V, AssayType type>
struct Scales {
    typename V::Floats scale, minimum;

    Scales() = default;
    inline explicit Scales(const std::byte* block) : scale(V::from_halves(block)) {
        if constexpr (Block<type>::has_minimum) minimum = V::from_halves(block + 32);
    }
};

// The block, unpacked.
template <class V, AssayType type>
struct Unpacked : Scales<V, type> {
    typename V::Quants quants[quads];

    inline explicit Unpacked(const std::byte* block) : Scales<V, type>(block) {
        const std::byte* const packed = block + Block<type>::header;
        if constexpr (type == ASSAY_Q8_0) {
#pragma GCC unroll 8
            for (int q = 0; q < quads; ++q) quants[q] = V::shifted_bytes(packed + 64 * q);
        } else {
#pragma GCC unroll 8
            for (int q = 0; q < quads / 2; ++q)
                V::halves_of_bytes(packed + 64 * q, quants[q], quants[q + quads / 2]);
        }
    }
};

// Adds a block's dot products, whole numbers, in the scales of both sides.
template <class V, AssayType type, int digits>
inline typename V::Floats add_sums(const typename V::Ints* sums, const Scales<V, type>& weights,
                                   const DigitBlock<digits>& x, typename V::Floats total) {
    typename V::Floats whole = V::to_floats(sums[digits - 1]);
    if constexpr (digits == 3)
        whole = V::fused(V::to_floats(V::plus(V::times_256(sums[0]), sums[1])),
                         V::broadcast(256.0f), whole);
    total = V::fused(V::times(whole, V::broadcast(x.scale)), weights.scale, total);
    if constexpr (Block<type>::has_minimum)
        total = V::fused(weights.minimum, V::broadcast(x.sum), total);
    return total;
}

// Less what was added to the quants.
template <class V, AssayType type, int digits>
inline typename V::Ints without_added(const DigitBlock<digits>& x, int digit) {
    constexpr int added = Block<type>::added;
    return added ? V::broadcast(-added * x.digit_sums[digit]) : V::no_ints();
}

template <class V, AssayType type, int digits>
inline typename V::Floats add_block(const Unpacked<V, type>& weights, const DigitBlock<digits>& x,
                                    typename V::Floats total) {
    constexpr bool of_four_bits = Block<type>::added != 128;
    typename V::Ints sums[digits];
#pragma GCC unroll 3
    for (int d = 0; d < digits; ++d) {
        sums[d] = without_added<V, type>(x, d);
#pragma GCC unroll 8
        for (int q = 0; q < quads; ++q)
            sums[d] =
                V::template dot<of_four_bits>(sums[d], weights.quants[q], x.digits[d] + 4 * q);
    }
    return add_sums<V, type, digits>(sums, weights, x, total);
}

// What does not depend on V is of each file alone: the linker must not keep the copy that was
// compiled for other instructions.
namespace {

template <AssayType type>
__attribute__((always_inline)) inline void ask_for_weights(const std::byte* block) {
#pragma GCC unroll 16
    for (int line = 0; line < Block<type>::bytes; line += 64)
        __builtin_prefetch(block + line, 0, second_cache);
}

}  // namespace

template <class V, AssayType type, int digits, int tokens>
void multiply_few(const std::byte* group, int columns, const DigitBlock<digits>* x, float* y,
                  int stride) {
    typename V::Floats total[tokens];
#pragma GCC unroll 4
    for (int t = 0; t < tokens; ++t) total[t] = V::no_floats();
    const int blocks = columns / digit_block;
    for (int b = 0; b < blocks; ++b, group += Block<type>::bytes, x += tokens) {
        ask_for_weights<type>(group + prefetch_bytes);
        const Unpacked<V, type> weights(group);
#pragma GCC unroll 4
        for (int t = 0; t < tokens; ++t)
            total[t] = add_block<V, type, digits>(weights, x[t], total[t]);
    }
#pragma GCC unroll 4
    for (int t = 0; t < tokens; ++t) V::store(y + t * stride, total[t]);
}

// More tokens than registers: their sums lie in the first cache, in y.
template <class V, AssayType type, int digits>
void multiply_many(const std::byte* group, int columns, const DigitBlock<digits>* x, int tokens,
                   float* y, int stride) {
    for (int t = 0; t < tokens; ++t) V::store(y + t * stride, V::no_floats());
    const int blocks = columns / digit_block;
    for (int b = 0; b < blocks; ++b, group += Block<type>::bytes, x += tokens) {
        ask_for_weights<type>(group + prefetch_bytes);
        const Unpacked<V, type> weights(group);
        int t = 0;
        for (; t + 2 <= tokens; t += 2) {
            float* const first = y + t * stride;
            float* const second = first + stride;
            const typename V::Floats a = add_block<V, type, digits>(weights, x[t], V::load(first));
            const typename V::Floats b =
                add_block<V, type, digits>(weights, x[t + 1], V::load(second));
            V::store(first, a);
            V::store(second, b);
        }
        if (t < tokens) {
            float* const last = y + t * stride;
            V::store(last, add_block<V, type, digits>(weights, x[t], V::load(last)));
        }
    }
}

template <class V, AssayType type, int digits>
void multiply_type(const std::byte* group, int columns, const DigitBlock<digits>* x, int tokens,
                   float* y, int stride) {
    switch (tokens) {
        case 1:
            return multiply_few<V, type, digits, 1>(group, columns, x, y, stride);
        case 2:
            return multiply_few<V, type, digits, 2>(group, columns, x, y, stride);
        case 3:
            return multiply_few<V, type, digits, 3>(group, columns, x, y, stride);
        case 4:
            return multiply_few<V, type, digits, 4>(group, columns, x, y, stride);
        default:
            return multiply_many<V, type, digits>(group, columns, x, tokens, y, stride);
    }
}

template <class V, int digits>
void multiply(AssayType type, const std::byte* group, int columns, const DigitBlock<digits>* x,
              int tokens, float* y, int stride) {
    if (type == ASSAY_Q8_0)
        return multiply_type<V, ASSAY_Q8_0, digits>(group, columns, x, tokens, y, stride);
    if (type == ASSAY_Q4_0)
        return multiply_type<V, ASSAY_Q4_0, digits>(group, columns, x, tokens, y, stride);
    multiply_type<V, ASSAY_Q4_1, digits>(group, columns, x, tokens, y, stride);
}

// Digits of sixteen whole numbers, below 127·65536 in magnitude, or 127.
template <class V, int digits>
inline void split(typename V::Ints whole, int at, DigitBlock<digits>& block,
                  typename V::Ints* sums) {
#pragma GCC unroll 3
    for (int d = digits - 1; d >= 0; --d) {
        const typename V::Ints digit = d > 0 ? V::signed_low_byte(whole) : whole;
        V::store_bytes(block.digits[d] + at, digit);
        sums[d] = V::plus(sums[d], digit);
        if (d > 0) whole = V::over_256(V::minus(whole, digit));
    }
}

template <class V, int digits>
void to_digits(const float* x, int columns, DigitBlock<digits>* out, int stride) {
    // Three digits: with room for their carries.
    constexpr float largest = digits == 3 ? 127.0f * 65536.0f : 127.0f;
    for (; columns > 0; columns -= digit_block, x += digit_block, out += stride) {
        const typename V::Floats low = V::load(x), high = V::load(x + lanes);
        const float most = V::largest(V::largest_of(V::magnitude(low), V::magnitude(high)));
        out->sum = V::sum(V::plus(low, high));
        // A sum that is no number makes the scale none; the maximum alone would hide a NaN.
        out->scale = most / largest + (out->sum - out->sum);
        const typename V::Floats inverse = V::broadcast(most > 1e-30f ? largest / most : 0.0f);
        typename V::Ints sums[digits];
        for (int d = 0; d < digits; ++d) sums[d] = V::no_ints();
        split<V, digits>(V::rounded(V::times(low, inverse)), 0, *out, sums);
        split<V, digits>(V::rounded(V::times(high, inverse)), lanes, *out, sums);
        for (int d = 0; d < digits; ++d) out->digit_sums[d] = V::sum(sums[d]);
    }
}

// --- products with rows of floats

// A column of sixteen rows. In bf16 the last of an odd number: a float's upper half.
template <class V, AssayType type>
inline typename V::Floats one_column(const std::byte* from) {
    if constexpr (type == ASSAY_F32) return V::load(reinterpret_cast<const float*>(from));
    if constexpr (type == ASSAY_F16) return V::from_halves(from);
    float column[lanes];
    for (int i = 0; i < lanes; ++i) {
        std::uint16_t half;
        __builtin_memcpy(&half, from + 2 * i, sizeof half);
        const std::uint32_t bits = std::uint32_t{half} << 16;
        __builtin_memcpy(column + i, &bits, sizeof bits);
    }
    return V::load(column);
}

// Two neighbouring ones.
template <class V, AssayType type>
inline void two_columns(const std::byte* from, typename V::Floats& first,
                        typename V::Floats& second) {
    if constexpr (type == ASSAY_BF16) return V::pairs_of_bf16(from, first, second);
    first = one_column<V, type>(from);
    second = one_column<V, type>(from + lanes * (type == ASSAY_F32 ? 4 : 2));
}

template <class V, AssayType type, int tokens>
void multiply_floats_of(const std::byte* group, int columns, const float* const* x, float* y,
                        int stride) {
    using Floats = typename V::Floats;
    constexpr int strands = 4;  // so that no addition waits for the one before
    constexpr int column_bytes = lanes * (type == ASSAY_F32 ? 4 : 2);
    Floats partial[tokens][strands];
#pragma GCC unroll 16
    for (int i = 0; i < tokens * strands; ++i) partial[i / strands][i % strands] = V::no_floats();
    const auto add_column = [&](const Floats& weights, int column, int strand) {
#pragma GCC unroll 4
        for (int t = 0; t < tokens; ++t)
            partial[t][strand] = V::fused(weights, V::broadcast(x[t][column]), partial[t][strand]);
    };
    const auto add_pair = [&](int column, int strand) {
        Floats first, second;
        two_columns<V, type>(group + column_bytes * column, first, second);
        add_column(first, column, strand);
        add_column(second, column + 1, strand + 1);
    };
    int column = 0;
    for (; column + 4 <= columns; column += 4) {
#pragma GCC unroll 4
        for (int line = 0; line < 4 * column_bytes; line += 64)
            __builtin_prefetch(group + column_bytes * column + prefetch_bytes + line, 0,
                               second_cache);
        add_pair(column, 0);
        add_pair(column + 2, 2);
    }
    if (columns % strands >= 2) add_pair(column, 0);
    if (columns % 2 == 1) {
        const int last = columns - 1;
        const Floats weights = one_column<V, type>(group + column_bytes * last);
        if (columns % strands == 1)
            add_column(weights, last, 0);
        else
            add_column(weights, last, 2);
    }
#pragma GCC unroll 4
    for (int t = 0; t < tokens; ++t)
        V::store(y + t * stride, V::plus(V::plus(partial[t][0], partial[t][1]),
                                         V::plus(partial[t][2], partial[t][3])));
}

template <class V, AssayType type>
void multiply_floats_type(const std::byte* group, int columns, const float* const* x, int tokens,
                          float* y, int stride) {
    constexpr int together = V::floats_together;
    for (; tokens >= together; tokens -= together, x += together, y += together * stride)
        multiply_floats_of<V, type, together>(group, columns, x, y, stride);
    for (; tokens >= 1; --tokens, ++x, y += stride)
        multiply_floats_of<V, type, 1>(group, columns, x, y, stride);
}

template <class V>
void multiply_floats(AssayType type, const std::byte* group, int columns, const float* const* x,
                     int tokens, float* y, int stride) {
    if (type == ASSAY_BF16)
        return multiply_floats_type<V, ASSAY_BF16>(group, columns, x, tokens, y, stride);
    if (type == ASSAY_F16)
        return multiply_floats_type<V, ASSAY_F16>(group, columns, x, tokens, y, stride);
    multiply_floats_type<V, ASSAY_F32>(group, columns, x, tokens, y, stride);
}

// --- attention

// add(row, its vectors) for each of `count` rows that are stored as KvLayout says. place(row, v):
// where vector v of the row begins; in bf16 of it and of the next row, for even rows. What lies
// `ahead` bytes behind is asked for, unless that is 0.
template <class V, KvType type, int vectors, class Place, class Add>
inline void each_row(int count, int ahead, const Place& at, const Add& add) {
    using Floats = typename V::Floats;
    const auto place = [&](int row, int v) {
        const std::byte* const begin = at(row, v);
        if (ahead) __builtin_prefetch(begin + ahead, 0, second_cache);
        return begin;
    };
    if constexpr (type == KvType::f32) {
        for (int row = 0; row < count; ++row) {
            Floats at[vectors];
#pragma GCC unroll 4
            for (int v = 0; v < vectors; ++v)
                at[v] = V::load(reinterpret_cast<const float*>(place(row, v)));
            add(row, at);
        }
    } else {
        const auto unpack = [&](int row, Floats* first, Floats* second) {
#pragma GCC unroll 4
            for (int v = 0; v < vectors; ++v) V::pairs_of_bf16(place(row, v), first[v], second[v]);
        };
        Floats first[vectors], second[vectors];
        int row = 0;
        for (; row + 2 <= count; row += 2) {
            unpack(row, first, second);
            add(row, first);
            add(row + 1, second);
        }
        if (row == count) return;
        unpack(row, first, second);  // the second may never have been put
        add(row, first);
    }
}

// scores[h][16 · block + lane] of `heads` heads and `blocks` blocks.
template <class V, KvType type, int heads, int blocks>
inline void score_blocks(const Segment& s, const float* query, int block, int ahead,
                         float* scores) {
    typename V::Floats sums[heads][blocks];
#pragma GCC unroll 16
    for (int i = 0; i < heads * blocks; ++i) sums[i / blocks][i % blocks] = V::no_floats();
    constexpr int row_bytes = lanes * static_cast<int>(bytes_of(type));
    each_row<V, type, blocks>(
        s.head_width, ahead, [&](int i, int b) { return s.blocks[block + b] + row_bytes * i; },
        [&](int i, const typename V::Floats* keys) {
#pragma GCC unroll 4
            for (int h = 0; h < heads; ++h) {
                const typename V::Floats q = V::broadcast(query[h * s.head_width + i]);
#pragma GCC unroll 4
                for (int b = 0; b < blocks; ++b) sums[h][b] = V::fused(q, keys[b], sums[h][b]);
            }
        });
#pragma GCC unroll 4
    for (int h = 0; h < heads; ++h)
#pragma GCC unroll 4
        for (int b = 0; b < blocks; ++b)
            V::store(scores + h * segment_positions + lanes * (block + b), sums[h][b]);
}

// mixed[h][column …] of `heads` heads and `vectors` vectors of the values' columns.
template <class V, KvType type, int heads, int vectors>
inline void mix_columns(const Segment& s, const float* shares, int column, int ahead,
                        float* mixed) {
    const int width = padded(s.head_width);
    const KvLayout layout(type, s.head_width);
    constexpr int element = static_cast<int>(bytes_of(type));
    typename V::Floats sums[heads][vectors];
#pragma GCC unroll 16
    for (int i = 0; i < heads * vectors; ++i) sums[i / vectors][i % vectors] = V::no_floats();
    for (int first = 0; first < s.positions; first += lanes) {
        const std::byte* const values = s.blocks[first / lanes];
        each_row<V, type, vectors>(
            s.positions - first < lanes ? s.positions - first : lanes, ahead,
            [&](int p, int v) { return values + element * layout.value(p, column + lanes * v); },
            [&](int p, const typename V::Floats* row) {
#pragma GCC unroll 4
                for (int h = 0; h < heads; ++h) {
                    const typename V::Floats share =
                        V::broadcast(shares[h * segment_positions + first + p]);
#pragma GCC unroll 4
                    for (int v = 0; v < vectors; ++v)
                        sums[h][v] = V::fused(share, row[v], sums[h][v]);
                }
            });
    }
#pragma GCC unroll 4
    for (int h = 0; h < heads; ++h)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v)
            V::store(mixed + h * width + column + lanes * v, sums[h][v]);
}

template <class V, KvType type, int heads>
void attend_heads(const Segment& s, int first) {
    alignas(64) float scores[heads * segment_positions];
    const int blocks = (s.positions + lanes - 1) / lanes;
    const float* const query = s.query + first * s.head_width;
    // Beside keys their values are asked for, beside values the next head's keys, which lie behind.
    const KvLayout layout(type, s.head_width);
    constexpr int element = static_cast<int>(bytes_of(type));
    const int to_values = first == 0 ? element * layout.keys() : 0;
    const int to_keys = first == 0 ? element * (layout.elements() - layout.keys()) : 0;
    int block = 0;
    for (; block + 4 <= blocks; block += 4)
        score_blocks<V, type, heads, 4>(s, query, block, to_values, scores);
    for (; block + 2 <= blocks; block += 2)
        score_blocks<V, type, heads, 2>(s, query, block, to_values, scores);
    if (block < blocks) score_blocks<V, type, heads, 1>(s, query, block, to_values, scores);

    for (int h = 0; h < heads; ++h) {
        float* const row = scores + h * segment_positions;
        for (int p = s.positions; p < lanes * blocks; ++p) row[p] = -__builtin_inff();
        typename V::Floats all = V::load(row);
        for (int b = 1; b < blocks; ++b) all = V::largest_of(all, V::load(row + lanes * b));
        const float most = V::largest(all);
        typename V::Floats sum = V::no_floats();
        for (int b = 0; b < blocks; ++b) {
            const typename V::Floats share =
                exponential<V>(V::minus(V::load(row + lanes * b), V::broadcast(most)));
            V::store(row + lanes * b, share);
            sum = V::plus(sum, share);
        }
        s.most[first + h] = most;
        s.sums[first + h] = V::sum(sum);
    }

    const int width = padded(s.head_width);
    float* const mixed = s.mixed + first * width;
    int column = 0;
    for (; column + 4 * lanes <= width; column += 4 * lanes)
        mix_columns<V, type, heads, 4>(s, scores, column, to_keys, mixed);
    for (; column < width; column += lanes)
        mix_columns<V, type, heads, 1>(s, scores, column, to_keys, mixed);
}

template <class V, KvType type>
void attend_type(const Segment& s) {
    int done = 0;
    for (; s.heads - done > 4; done += 3) attend_heads<V, type, 3>(s, done);
    switch (s.heads - done) {
        case 1:
            return attend_heads<V, type, 1>(s, done);
        case 2:
            return attend_heads<V, type, 2>(s, done);
        case 3:
            return attend_heads<V, type, 3>(s, done);
        default:
            return attend_heads<V, type, 4>(s, done);
    }
}

template <class V>
void attend(const Segment& s) {
    s.type == KvType::f32 ? attend_type<V, KvType::f32>(s) : attend_type<V, KvType::bf16>(s);
}

// --- the rest

// Vectors of the last elements, or of all; missing ones are zeros.
template <class V>
inline typename V::Floats load_some(const float* from, int count) {
    if (count >= lanes) return V::load(from);
    float some[lanes] = {};
    __builtin_memcpy(some, from, static_cast<std::size_t>(count) * sizeof(float));
    return V::load(some);
}
template <class V>
inline void store_some(float* to, int count, typename V::Floats v) {
    if (count >= lanes) return V::store(to, v);
    float some[lanes];
    V::store(some, v);
    __builtin_memcpy(to, some, static_cast<std::size_t>(count) * sizeof(float));
}

template <class V>
void put(KvType type, int head_width, int position, const float* key, const float* value,
         std::byte* block) {
    const KvLayout layout(type, head_width);
    const auto put_all = [&](const auto* keys, const auto* values, auto* to, int first) {
        const int count = head_width - first < lanes ? head_width - first : lanes;
        for (int i = 0; i < count; ++i) {
            to[layout.key(first + i, position)] = keys[i];
            to[layout.value(position, first + i)] = values[i];
        }
    };
    for (int first = 0; first < head_width; first += lanes, key += lanes, value += lanes) {
        if (type == KvType::f32) {
            put_all(key, value, reinterpret_cast<float*>(block), first);
            continue;
        }
        std::uint16_t keys[lanes], values[lanes];
        V::store_bf16(keys, load_some<V>(key, head_width - first));
        V::store_bf16(values, load_some<V>(value, head_width - first));
        put_all(keys, values, reinterpret_cast<std::uint16_t*>(block), first);
    }
}

template <class V>
void rotate(const float* x, const float* cosine, const float* sine, int half, float scale,
            float* out) {
    using Floats = typename V::Floats;
    const Floats all = V::broadcast(scale);
    for (int i = 0; i < half; i += lanes) {
        const int count = half - i;
        const Floats a = load_some<V>(x + i, count), b = load_some<V>(x + half + i, count);
        const Floats c = load_some<V>(cosine + i, count), s = load_some<V>(sine + i, count);
        store_some<V>(out + i, count, V::times(V::minus(V::times(a, c), V::times(b, s)), all));
        store_some<V>(out + half + i, count,
                      V::times(V::plus(V::times(b, c), V::times(a, s)), all));
    }
}

template <class V>
void add_rms_norm(float* x, const float* change, const float* weight, double epsilon, int width,
                  float* out) {
    using Floats = typename V::Floats;
    Floats squares = V::no_floats();
    for (int i = 0; i < width; i += lanes) {
        const Floats sum =
            V::plus(load_some<V>(x + i, width - i), load_some<V>(change + i, width - i));
        store_some<V>(x + i, width - i, sum);
        squares = V::plus(squares, V::times(sum, sum));
    }
    const double mean = static_cast<double>(V::sum(squares)) / width;
    const Floats scale = V::broadcast(static_cast<float>(1.0 / __builtin_sqrt(mean + epsilon)));
    for (int i = 0; i < width; i += lanes)
        store_some<V>(out + i, width - i,
                      V::times(V::times(load_some<V>(x + i, width - i), scale),
                               load_some<V>(weight + i, width - i)));
}

template <class V>
void swiglu(const float* gates, const float* ups, int count, float* out) {
    for (int i = 0; i < count; i += lanes) {
        const typename V::Floats gate = load_some<V>(gates + i, count - i);
        const typename V::Floats less =
            V::plus(V::broadcast(1.0f), exponential<V>(V::minus(V::no_floats(), gate)));
        store_some<V>(out + i, count - i,
                      V::times(V::over(gate, less), load_some<V>(ups + i, count - i)));
    }
}

template <class V>
SoftmaxPart softmax(const float* logits, int count, float sharpness) {
    using Floats = typename V::Floats;
    const auto vector_at = [&](int i) -> Floats {
        if (i + lanes <= count) return V::load(logits + i);
        float some[lanes];
        for (int lane = 0; lane < lanes; ++lane)
            some[lane] = i + lane < count ? logits[i + lane] : -__builtin_inff();
        return V::load(some);
    };
    Floats all = V::broadcast(-__builtin_inff());
    bool is_nan = false;
    for (int i = 0; i < count; i += lanes) {
        const Floats x = vector_at(i);
        is_nan |= V::any_nan(x);
        all = V::largest_of(all, x);
    }
    const float most = V::largest(all);
    constexpr int together = 16;  // vectors whose sum is made in fp32
    double sum = 0;
    for (int i = 0; i < count;) {
        Floats some = V::no_floats();
        for (int v = 0; v < together && i < count; ++v, i += lanes)
            some = V::plus(some, exponential<V>(V::times(V::minus(vector_at(i), V::broadcast(most)),
                                                         V::broadcast(sharpness))));
        sum += static_cast<double>(V::sum(some));
    }
    return {most, sum, is_nan};
}

template <class V>
std::int32_t bare_dots(const std::byte* quants, const std::int8_t* digits, int dots) {
    typename V::Quants q[quads];
    typename V::Ints sums[quads];
#pragma GCC unroll 8
    for (int i = 0; i < quads; ++i) {
        q[i] = V::shifted_bytes(quants + 64 * i);
        sums[i] = V::no_ints();
    }
    for (int done = 0; done < dots; done += quads) {
#pragma GCC unroll 8
        for (int i = 0; i < quads; ++i)
            sums[i] = V::template dot<true>(sums[i], q[i], digits + 4 * i);
        asm volatile("" : "+r"(digits));  // which are read anew
    }
    std::int32_t all = 0;
#pragma GCC unroll 8
    for (int i = 0; i < quads; ++i) all += V::sum(sums[i]);
    return all;
}

template <class V>
constexpr Loops loops_of(const char* name) {
    return {.name = name,
            .exact = to_digits<V, 3>,
            .int8 = to_digits<V, 1>,
            .multiply_exact = multiply<V, 3>,
            .multiply_int8 = multiply<V, 1>,
            .multiply_floats = multiply_floats<V>,
            .attend = attend<V>,
            .put = put<V>,
            .rotate = rotate<V>,
            .add_rms_norm = add_rms_norm<V>,
            .swiglu = swiglu<V>,
            .softmax = softmax<V>,
            .bare_dots = bare_dots<V>};
}

}  // namespace assay::decode
