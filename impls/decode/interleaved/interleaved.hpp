// Rows rearranged so that sixteen of them are multiplied side by side, one in each lane of a
// vector: quantised ones by int8 dot products (VNNI). The bits are those of the plain rows.
//
// Sixteen rows form a group; the last is filled up with rows of zeros. Block by block of 32 columns
// it holds: the sixteen scales (f16), the sixteen minima (f16, q4_1 only), then the quants.
//   q8_0: for each four columns 64 bytes: of every row its four int8.
//   q4:   for each four of the first sixteen columns 64 bytes: of every row four bytes, as in its
//         plain block: a low half is column c, the high half column c + 16.
//   bf16: there are no scales; for each two columns 64 bytes: of every row its two.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/assay_kernels.h"

namespace assay::decode {

constexpr int interleaved_rows = 16;

/// Whether this build and processor multiply rows of this type so.
bool can_interleave(AssayType type, int columns);

/// Bytes of `rows` interleaved rows.
std::size_t interleaved_bytes(AssayType type, int rows, int columns);

/// plain: [rows] rows of the type. out: interleaved_bytes().
void interleave(AssayType type, const std::byte* plain, int rows, int columns, std::byte* out);

/// Row `row` as it was before. out: the bytes of a plain row.
void take_row(AssayType type, const std::byte* interleaved, int columns, int row, std::byte* out);

// Products with interleaved rows. Activations are whole numbers for int8 dot products, without
// losing what fp32 arithmetic keeps: each block of 32 is scaled to 24 bits and written in three
// signed digits to the base 256.

constexpr int digit_count = 3;
constexpr int digit_block = 32;  ///< columns, as of a quantised block

/// x ≈ scale · (65536·digits[0] + 256·digits[1] + digits[2]), exact to 2^-24 of the block's
/// largest.
struct alignas(64) DigitBlock {
    std::int8_t digits[digit_count][digit_block];
    std::int32_t digit_sums[digit_count];  ///< over the block
    float scale;                           ///< NaN where an activation is not finite
    float sum;                             ///< of the block's activations
};

/// The loops for one set of instructions.
struct InterleavedProducts {
    /// x: [columns], columns a multiple of 32. out: [columns / 32].
    void (*digits)(const float* x, int columns, DigitBlock* out);
    /// Sixteen rows (one group) times `tokens` tokens: y[t·stride + r]. Each sum is
    /// made in one order, whatever `tokens`.
    void (*multiply)(AssayType type, const std::byte* group, int columns,
                     const DigitBlock* const* x, int tokens, float* y, int stride);
    /// The same for bf16 rows; x: [tokens] rows of floats, columns even. Arithmetic in fp32.
    void (*multiply_bf16)(const std::byte* group, int columns, const float* const* x, int tokens,
                          float* y, int stride);
};

/// Null: this processor has no AVX-512 with int8 dot products (VNNI).
const InterleavedProducts* interleaved_products();

extern const InterleavedProducts vnni_products;

}  // namespace assay::decode
