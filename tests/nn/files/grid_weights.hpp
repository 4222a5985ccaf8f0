// Weights on a grid that every tensor type holds exactly: (q − 8) / 32 with q in 0 … 15. A model
// written with them reads back bit for bit whatever the type.
#pragma once

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

/// `weights` of the grid, stored as `type`; for the q types in whole blocks.
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
        for (std::size_t i = 0; i < weights.size(); ++i) {
            // Sign, exponent and fraction of n / 32 with |n| <= 8.
            const int n = level(i) - 8, magnitude = n < 0 ? -n : n;
            int power = 0;
            while (magnitude >> (power + 1)) ++power;
            const int fraction = (magnitude << (10 - power)) & 0x3ff;
            const int bits = magnitude ? ((power - 5 + 15) << 10) | fraction : 0;
            out.number(static_cast<std::uint16_t>(bits | (n < 0 ? 0x8000 : 0)));
        }
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
