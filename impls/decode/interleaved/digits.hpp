// Activations as whole numbers for int8 dot products, without losing what fp32 arithmetic keeps:
// each block of 32 is scaled to 24 bits and written in three signed digits to the base 256.
#pragma once

#include <cstdint>

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

}  // namespace assay::decode
