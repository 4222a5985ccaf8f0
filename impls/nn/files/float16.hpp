// The value of a 16-bit float, without branches, so that loops over it become vector code.
#pragma once

#include <bit>
#include <cstdint>

namespace assay::nn {

inline float float16_value(std::uint16_t value) {
    const std::uint32_t sign = static_cast<std::uint32_t>(value & 0x8000u) << 16;
    const std::uint32_t magnitude = static_cast<std::uint32_t>(value & 0x7fffu) << 13;
    // Read as a float, `magnitude` has the right fraction and an exponent that is 127 − 15 too
    // small, subnormals included: a multiplication by a power of two puts both right.
    const float scaled = std::bit_cast<float>(magnitude) * 0x1p112f;
    const std::uint32_t finite = std::bit_cast<std::uint32_t>(scaled);
    const std::uint32_t not_finite = magnitude | 0x7f800000u;
    return std::bit_cast<float>(sign | (magnitude < 0x0f800000u ? finite : not_finite));
}

}  // namespace assay::nn
