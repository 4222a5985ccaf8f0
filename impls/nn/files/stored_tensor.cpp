#include "impls/nn/files/stored_tensor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <limits>
#include <stdexcept>

#include "impls/nn/files/untrusted_file.hpp"

namespace assay::nn {

BlockSize block_size(TensorType type) {
    constexpr std::size_t scale = 2;  // an f16
    switch (type) {
        case TensorType::f32:
            return {1, 4};
        case TensorType::f16:
        case TensorType::bf16:
            return {1, 2};
        case TensorType::q8_0:
            return {32, scale + 32};
        case TensorType::q4_0:
            return {32, scale + 16};
        case TensorType::q4_1:
            return {32, scale + scale + 16};
    }
    throw std::logic_error("no such tensor type");
}

std::size_t stored_bytes(TensorType type, std::int64_t elements) {
    const BlockSize block = block_size(type);
    if (elements < 0 || elements % block.elements != 0)
        throw std::invalid_argument("not a whole number of blocks");
    const auto blocks = static_cast<std::size_t>(elements / block.elements);
    if (blocks > std::numeric_limits<std::size_t>::max() / block.bytes)
        throw std::overflow_error("more bytes than can be counted");
    return blocks * block.bytes;
}

std::int64_t TensorEntry::elements() const {
    // The readers refuse shapes whose product does not fit.
    std::int64_t product = 1;
    for (const std::int64_t extent : shape) product *= extent;
    return product;
}

namespace {

// Without branches, so that loops over it become vector code.
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

// A product d·q has at most 19 significant bits, so it is exact; d·q + m of q4_1 is the rounded sum
// that every reader of the format computes.
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

void to_floats(const TensorEntry& tensor, std::int64_t first, std::span<float> out) {
    const BlockSize unit = block_size(tensor.type);
    const auto count = static_cast<std::int64_t>(out.size());
    if (first < 0 || first > tensor.elements() || count > tensor.elements() - first)
        throw std::out_of_range("elements beyond the end of tensor " + tensor.name);
    if (first % unit.elements != 0 || count % unit.elements != 0)
        throw std::invalid_argument("part of a quantised block of tensor " + tensor.name);
    to_floats(tensor.type, tensor.bytes.data() + stored_bytes(tensor.type, first), out);
}

void to_floats(TensorType type, const std::byte* at, std::span<float> out) {
    switch (type) {
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
            for (std::size_t i = 0; i < out.size(); i += block, at += block_size(type).bytes)
                unpack_block(type, at, out.data() + i);
    }
}

namespace {

[[noreturn]] void refuse_shape(std::string_view file, const TensorEntry& tensor,
                               std::string_view why) {
    malformed(file, fmt::format("tensor {} with shape [{}] {}", shown(tensor.name),
                                fmt::join(tensor.shape, ", "), why));
}

}  // namespace

std::int64_t checked_elements(std::string_view file, const TensorEntry& tensor,
                              std::size_t file_bytes) {
    // No type needs less than half a byte per element.
    const std::uint64_t most_elements = 2 * static_cast<std::uint64_t>(file_bytes);
    std::int64_t elements = 1;
    for (const std::int64_t extent : tensor.shape) {
        if (extent < 0) refuse_shape(file, tensor, "has a negative extent");
        if (__builtin_mul_overflow(elements, extent, &elements))
            refuse_shape(file, tensor, "is larger than the file");
    }
    if (static_cast<std::uint64_t>(elements) > most_elements)
        refuse_shape(file, tensor, "is larger than the file");
    return elements;
}

std::size_t checked_bytes(std::string_view file, const TensorEntry& tensor,
                          std::size_t file_bytes) {
    const std::int64_t elements = checked_elements(file, tensor, file_bytes);
    const std::int64_t row = tensor.shape.empty() ? 1 : tensor.shape.back();
    if (const std::int64_t unit = block_size(tensor.type).elements; row % unit != 0)
        refuse_shape(file, tensor,
                     fmt::format("is stored as {}, which needs rows of a multiple of {} elements",
                                 to_string(tensor.type), unit));
    return stored_bytes(tensor.type, elements);
}

void check_apart(std::string_view file, const std::vector<TensorEntry>& tensors) {
    std::vector<const TensorEntry*> order;
    order.reserve(tensors.size());
    for (const TensorEntry& tensor : tensors) order.push_back(&tensor);

    std::sort(order.begin(), order.end(),
              [](const auto* a, const auto* b) { return a->name < b->name; });
    for (std::size_t i = 1; i < order.size(); ++i)
        if (order[i - 1]->name == order[i]->name)
            malformed(file, fmt::format("two tensors are named {}", shown(order[i]->name)));

    std::erase_if(order, [](const TensorEntry* tensor) { return tensor->bytes.empty(); });
    std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
        return std::less<>()(a->bytes.data(), b->bytes.data());
    });
    for (std::size_t i = 1; i < order.size(); ++i)
        if (std::less<>()(order[i]->bytes.data(),
                          order[i - 1]->bytes.data() + order[i - 1]->bytes.size()))
            malformed(file, fmt::format("the tensors {} and {} overlap", shown(order[i - 1]->name),
                                        shown(order[i]->name)));
}

}  // namespace assay::nn
