#include "kernels/cpu/element_types.hpp"

#include <array>
#include <bit>

namespace assay::kernels {
namespace {

constexpr float value_of(std::uint32_t half) {
    const std::uint32_t sign = (half & 0x8000u) << 16, exponent = half >> 10 & 31u;
    const std::uint32_t mantissa = half & 1023u;
    if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | mantissa << 13);
    if (exponent == 0) {
        const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
        return sign ? -magnitude : magnitude;
    }
    return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
}

constexpr std::array<float, 65536> all_values() {
    std::array<float, 65536> values{};
    for (std::uint32_t half = 0; half < values.size(); ++half) values[half] = value_of(half);
    return values;
}

constexpr std::array<float, 65536> table = all_values();

}  // namespace

const float* const half_values = table.data();

}  // namespace assay::kernels
