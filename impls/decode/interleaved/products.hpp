// Products with interleaved rows. Activations are whole numbers for int8 dot products, without
// losing what fp32 arithmetic keeps: each block of 32 is scaled to 24 bits and written in three
// signed digits to the base 256.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/assay_kernels.h"

namespace assay::decode {

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
    /// Sixteen rows (one group of layout.hpp) times `tokens` tokens: y[t·stride + r]. Each sum is
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
