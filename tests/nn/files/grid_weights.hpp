// Weights on a grid that every tensor type holds exactly: (q − 8) / 32 with q in 0 … 15. A model
// written with them reads back bit for bit whatever the type.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "impls/nn/files/tensor_file.hpp"
#include "tests/nn/files/write_gguf.hpp"

namespace assay::nn {

inline std::vector<float> grid_weights(std::size_t count, std::uint64_t seed) {
    std::mt19937_64 engine(seed);
    std::vector<float> weights(count);
    for (float& weight : weights) weight = (static_cast<float>(engine() >> 60) - 8) / 32;
    return weights;
}

/// The binary16 that has this value, where there is one: bit for bit, also of what is no number.
inline std::uint16_t float16_of(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const int exponent = static_cast<int>(bits >> 23 & 0xff) - 127;
    const unsigned sign = bits >> 16 & 0x8000, fraction = bits >> 13 & 0x3ff;
    const unsigned magnitude = exponent == 128 ? 0x7c00 | fraction
                               : exponent >= -14
                                   ? static_cast<unsigned>(exponent + 15) << 10 | fraction
                                   : static_cast<unsigned>(std::ldexp(std::abs(value), 24));
    return static_cast<std::uint16_t>(sign | magnitude);
}

/// `weights` stored as `type`, which must have all these values: those of the grid in every type;
/// for the q types in whole blocks.
inline std::vector<std::byte> stored_grid(std::span<const float> weights, TensorType type) {
    constexpr std::uint16_t half_of_32nd = 0x2800, half_of_minus_quarter = 0xb400;
    const auto level = [&](std::size_t i) { return static_cast<int>(weights[i] * 32) + 8; };
    ByteString out;
    if (type == TensorType::f32) {
        for (const float weight : weights) out.number(weight);
    } else if (type == TensorType::bf16) {
        for (const float weight : weights) {
            std::uint32_t bits = 0;
            std::memcpy(&bits, &weight, sizeof bits);
            out.number(static_cast<std::uint16_t>(bits >> 16));
        }
    } else if (type == TensorType::f16) {
        for (const float weight : weights) out.number(float16_of(weight));
    } else {
        for (std::size_t block = 0; block < weights.size(); block += 32) {
            out.number(half_of_32nd);
            if (type == TensorType::q8_0) {
                for (std::size_t i = block; i < block + 32; ++i)
                    out.number(static_cast<std::int8_t>(level(i) - 8));
                continue;
            }
            if (type == TensorType::q4_1) out.number(half_of_minus_quarter);
            for (std::size_t i = block; i < block + 16; ++i)
                out.number(static_cast<std::uint8_t>(level(i) | level(i + 16) << 4));
        }
    }
    return out.bytes;
}

}  // namespace assay::nn
