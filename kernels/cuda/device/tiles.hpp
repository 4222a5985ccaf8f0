// Products on the tensor cores, which know bf16 but not fp32: an fp32 number is the exact sum of
// three bf16 ones (its 24 bits, eight by eight), so that bf16 weights times it are three products
// whose fp32 sum is as good as one in fp32.
#pragma once

#include "kernels/cuda/device/weight_formats.hpp"

namespace assay::kernels::cuda {

constexpr int fp32_parts = 3;

/// x = the sum of three bf16 numbers, each in the upper half of its word; the first has the largest
/// magnitude. What is no finite number is all in the first.
ASSAY_DEVICE void split_fp32(float x, std::uint32_t (&part)[fp32_parts]) {
    constexpr std::uint32_t upper = 0xffff0000u, infinite = 0x7f800000u, quiet = 0x00400000u;
    const std::uint32_t bits = to_bits(x);
    part[0] = bits & upper;
    part[1] = part[2] = 0;
    if ((bits & infinite) == infinite) {
        if (x != x) part[0] |= quiet;  // its bits may all have been lower ones
        return;
    }
    float rest = x - from_bits(part[0]);
    part[1] = to_bits(rest) & upper;
    rest -= from_bits(part[1]);
    part[2] = to_bits(rest) & upper;
}

/// The nearest bf16 number, of two as near the even one: its bits, in the lower half.
ASSAY_DEVICE std::uint32_t round_to_bf16(float value) {
    const std::uint32_t bits = to_bits(value);
    if (value != value) return bits >> 16 | 0x40u;  // its bits may all have been lower ones
    return (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
}

/// Two words' halves in one, the first's below.
ASSAY_DEVICE std::uint32_t upper_halves(std::uint32_t low, std::uint32_t high) {
    return low >> 16 | (high & 0xffff0000u);
}
ASSAY_DEVICE std::uint32_t lower_halves(std::uint32_t low, std::uint32_t high) {
    return (low & 0xffffu) | high << 16;
}

}  // namespace assay::kernels::cuda
