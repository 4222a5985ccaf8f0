// Stored elements as floats. A product d·q has at most 19 significant bits, so it is exact; d·q + m
// of q4_1 is the rounded sum that every reader of the format computes.
#include <bit>
#include <stdexcept>

#include "impls/nn/files/float16.hpp"
#include "impls/nn/files/little_endian.hpp"
#include "impls/nn/files/tensor_file.hpp"
#include "impls/nn/files/tensor_type.hpp"

namespace assay::nn {
namespace {

constexpr int block = 32;

float float16_at(const std::byte* at) { return float16_value(little_endian<std::uint16_t>(at)); }

// The low halves of 16 bytes are the elements 0 to 15, the high halves 16 to 31.
void unpack_nibbles(const std::byte* nibbles, float scale, float offset, float subtract,
                    float* out) {
    for (int i = 0; i < block / 2; ++i) {
        const auto pair = static_cast<unsigned char>(nibbles[i]);
        out[i] = scale * (static_cast<float>(pair & 15) - subtract) + offset;
        out[i + block / 2] = scale * (static_cast<float>(pair >> 4) - subtract) + offset;
    }
}

void unpack_block(TensorType type, const std::byte* at, float* out) {
    const float scale = float16_at(at);
    switch (type) {
        case TensorType::q8_0:
            for (int i = 0; i < block; ++i)
                out[i] = scale * static_cast<float>(little_endian<std::int8_t>(at + 2 + i));
            return;
        case TensorType::q4_0:
            // Adding −0 changes nothing, not even the sign of a zero.
            return unpack_nibbles(at + 2, scale, -0.0f, 8, out);
        default:
            return unpack_nibbles(at + 4, scale, float16_at(at + 2), 0, out);
    }
}

}  // namespace

void to_floats(const TensorEntry& tensor, std::int64_t first, std::span<float> out) {
    const BlockSize unit = block_size(tensor.type);
    const auto count = static_cast<std::int64_t>(out.size());
    if (first < 0 || first > tensor.elements() || count > tensor.elements() - first)
        throw std::out_of_range("elements beyond the end of tensor " + tensor.name);
    if (first % unit.elements != 0 || count % unit.elements != 0)
        throw std::invalid_argument("part of a quantised block of tensor " + tensor.name);
    const std::byte* at = tensor.bytes.data() + stored_bytes(tensor.type, first);
    switch (tensor.type) {
        case TensorType::f32:
            if (!out.empty()) std::memcpy(out.data(), at, out.size_bytes());
            return;
        case TensorType::f16:
            for (std::size_t i = 0; i < out.size(); ++i) out[i] = float16_at(at + 2 * i);
            return;
        case TensorType::bf16:
            for (std::size_t i = 0; i < out.size(); ++i)
                out[i] = std::bit_cast<float>(
                    static_cast<std::uint32_t>(little_endian<std::uint16_t>(at + 2 * i)) << 16);
            return;
        default:
            for (std::size_t i = 0; i < out.size(); i += block, at += unit.bytes)
                unpack_block(tensor.type, at, out.data() + i);
    }
}

}  // namespace assay::nn
