// 16-bit floats to 32-bit floats and back.
#include <bit>

#include "impls/nn/files/float16.hpp"
#include "impls/nn/files/tensor_file.hpp"

namespace assay::nn {

std::uint16_t to_bfloat16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t exponent_and_sign = bits >> 16;
    // Rounding could carry a NaN's payload into infinity; keep it a (quiet) NaN.
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return static_cast<std::uint16_t>(exponent_and_sign | 0x40u);
    const std::uint32_t half_or_one_less = 0x7fffu + (exponent_and_sign & 1u);
    return static_cast<std::uint16_t>((bits + half_or_one_less) >> 16);
}

float from_bfloat16(std::uint16_t value) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16);
}

float from_float16(std::uint16_t value) { return float16_value(value); }

}  // namespace assay::nn
