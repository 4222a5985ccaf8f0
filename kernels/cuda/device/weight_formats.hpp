// How a lane reads weights: a unit is what one lane takes at a time, `values` weights in groups of
// up to four. place() says where x[column] lies in block memory, so that the lanes of a warp, on
// neighbouring units, read each group's x from neighbouring banks: planes of one group each, a
// unit's group g at g · plane + 4 · unit.
//
// load<true>(): before wait_for_previous_kernel(), past what the multiprocessor has kept.
//
// ...x4 and ...x8: 16 bytes at once, for rows that are aligned to 16 bytes. ...x1: one weight, for
// all other rows. Q...: a quarter of a GGUF block of 32 (impls/nn/files/stored_tensor.hpp).
#pragma once

#include "kernels/assay_kernels.h"
#include "kernels/cuda/device/machine.hpp"

namespace assay::kernels::cuda {

/// x's place for units of eight columns in two groups of four.
ASSAY_DEVICE int place_in_planes_of_eights(int column, int plane) {
    return column / 4 % 2 * plane + column / 8 * 4 + column % 4;
}

/// Unit `unit` of a row in units of 16 bytes.
template <bool early>
ASSAY_DEVICE Words4 load_sixteen(const std::byte* row, int unit) {
    const std::byte* const from = row + static_cast<std::ptrdiff_t>(unit) * 16;
    return early ? load_past_cache(from) : load_once(from);
}

struct F32x4 {
    static constexpr int values = 4;
    using Raw = Words4;
    template <bool early = false>
    static ASSAY_DEVICE Raw load(const std::byte* row, int unit) {
        return load_sixteen<early>(row, unit);
    }
    static ASSAY_DEVICE void decode(const Raw& raw, float (&weights)[values]) {
#pragma unroll
        for (int i = 0; i < 4; ++i) weights[i] = from_bits(raw.word[i]);
    }
    static ASSAY_DEVICE int place(int column, int) { return column; }
};

struct Bf16x8 {
    static constexpr int values = 8;
    using Raw = Words4;
    template <bool early = false>
    static ASSAY_DEVICE Raw load(const std::byte* row, int unit) {
        return load_sixteen<early>(row, unit);
    }
    static ASSAY_DEVICE void decode(const Raw& raw, float (&weights)[values]) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            weights[2 * i] = from_bits(raw.word[i] << 16);
            weights[2 * i + 1] = from_bits(raw.word[i] & 0xffff0000u);
        }
    }
    static ASSAY_DEVICE int place(int column, int plane) {
        return place_in_planes_of_eights(column, plane);
    }
};

struct F16x8 {
    static constexpr int values = 8;
    using Raw = Words4;
    template <bool early = false>
    static ASSAY_DEVICE Raw load(const std::byte* row, int unit) {
        return load_sixteen<early>(row, unit);
    }
    static ASSAY_DEVICE void decode(const Raw& raw, float (&weights)[values]) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            weights[2 * i] = from_half_bits(raw.word[i] & 0xffffu);
            weights[2 * i + 1] = from_half_bits(raw.word[i] >> 16);
        }
    }
    static ASSAY_DEVICE int place(int column, int plane) {
        return place_in_planes_of_eights(column, plane);
    }
};

/// One weight at a time, of any of the plain types.
template <AssayType type>
struct Single {
    static constexpr int values = 1;
    using Stored = std::conditional_t<type == ASSAY_F32, std::uint32_t, std::uint16_t>;
    using Raw = Stored;
    template <bool early = false>
    static ASSAY_DEVICE Raw load(const std::byte* row, int unit) {
        const Stored* const from = reinterpret_cast<const Stored*>(row) + unit;
        return early ? load_of_other_block(from) : *from;
    }
    static ASSAY_DEVICE void decode(const Raw& raw, float (&weights)[values]) {
        if constexpr (type == ASSAY_F32)
            weights[0] = from_bits(raw);
        else if constexpr (type == ASSAY_BF16)
            weights[0] = from_bits(static_cast<std::uint32_t>(raw) << 16);
        else
            weights[0] = from_half_bits(raw);
    }
    static ASSAY_DEVICE int place(int column, int) { return column; }
};
using F32x1 = Single<ASSAY_F32>;
using F16x1 = Single<ASSAY_F16>;
using Bf16x1 = Single<ASSAY_BF16>;

/// Blocks are aligned to two bytes only.
ASSAY_DEVICE std::uint32_t two_bytes(const std::byte* from) {
    return *reinterpret_cast<const std::uint16_t*>(from);
}
ASSAY_DEVICE std::uint32_t four_bytes(const std::byte* from) {
    return two_bytes(from) | two_bytes(from + 2) << 16;
}

/// f16 scale, 32 int8. Units: eight neighbours.
struct Q8 {
    static constexpr int values = 8;
    struct Raw {
        std::uint32_t scale, low, high;
    };
    static ASSAY_DEVICE Raw load(const std::byte* row, int unit) {
        const std::byte* const block = row + static_cast<std::ptrdiff_t>(unit / 4) * 34;
        const std::byte* const quarter = block + 2 + unit % 4 * 8;
        return {two_bytes(block), four_bytes(quarter), four_bytes(quarter + 4)};
    }
    static ASSAY_DEVICE void decode(const Raw& raw, float (&weights)[values]) {
        const float scale = from_half_bits(raw.scale);
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            const std::uint32_t bytes = i < 4 ? raw.low : raw.high;
            weights[i] = scale * static_cast<float>(static_cast<std::int8_t>(bytes >> i % 4 * 8));
        }
    }
    static ASSAY_DEVICE int place(int column, int plane) {
        return place_in_planes_of_eights(column, plane);
    }
};

/// f16 scale, for q4_1 an f16 minimum, 32 nibbles: byte j holds weights j (low) and j + 16. Units:
/// four bytes, whose low nibbles are the first group, the high ones the second.
template <bool has_minimum>
struct Q4 {
    static constexpr int values = 8;
    static constexpr int head = has_minimum ? 4 : 2;
    struct Raw {
        std::uint32_t scale, minimum, nibbles;
    };
    static ASSAY_DEVICE Raw load(const std::byte* row, int unit) {
        const std::byte* const block = row + static_cast<std::ptrdiff_t>(unit / 4) * (head + 16);
        return {two_bytes(block), has_minimum ? two_bytes(block + 2) : 0u,
                four_bytes(block + head + unit % 4 * 4)};
    }
    static ASSAY_DEVICE void decode(const Raw& raw, float (&weights)[values]) {
        const float scale = from_half_bits(raw.scale);
        const float minimum = from_half_bits(raw.minimum);
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            const auto nibble = static_cast<int>(raw.nibbles >> (i % 4 * 8 + i / 4 * 4) & 15u);
            weights[i] = has_minimum ? scale * static_cast<float>(nibble) + minimum
                                     : scale * static_cast<float>(nibble - 8);
        }
    }
    static ASSAY_DEVICE int place(int column, int plane) {
        const int in_block = column % 32;
        return in_block / 16 * plane + column / 32 * 16 + in_block % 16;
    }
};

}  // namespace assay::kernels::cuda
