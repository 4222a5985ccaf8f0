#include "impls/nn/files/stored_tensor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <functional>
#include <limits>
#include <stdexcept>
#include <tuple>

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
constexpr std::size_t block = 32;

float float16_at(const std::byte* at) { return float16_value(little_endian<std::uint16_t>(at)); }

/// A copy, from which the compiler knows that nothing written changes it: then it makes vector
/// code.
template <class Number, std::size_t count>
std::array<Number, count> copied(const std::byte* at) {
    std::array<Number, count> numbers;
    std::memcpy(numbers.data(), at, sizeof numbers);
    return numbers;
}

// The low halves of 16 bytes are the elements 0 to 15, the high halves 16 to 31.
void unpack_nibbles(const std::byte* at, float scale, float offset, float subtract, float* out) {
    const auto nibbles = copied<std::uint8_t, block / 2>(at);
    for (std::size_t i = 0; i < block / 2; ++i) {
        const unsigned pair = nibbles[i];
        out[i] = scale * (static_cast<float>(pair & 15) - subtract) + offset;
        out[i + block / 2] = scale * (static_cast<float>(pair >> 4) - subtract) + offset;
    }
}

void unpack_block(TensorType type, const std::byte* at, float* out) {
    const float scale = float16_at(at);
    switch (type) {
        case TensorType::q8_0: {
            const auto weights = copied<std::int8_t, block>(at + 2);
            for (std::size_t i = 0; i < block; ++i) out[i] = scale * static_cast<float>(weights[i]);
            return;
        }
        case TensorType::q4_0:
            // Adding −0 changes nothing, not even the sign of a zero.
            return unpack_nibbles(at + 2, scale, -0.0f, 8, out);
        default:
            return unpack_nibbles(at + 4, scale, float16_at(at + 2), 0, out);
    }
}

template <float convert(std::uint16_t)>
void unpack_halves(const std::byte* at, std::span<float> out) {
    constexpr std::size_t half = sizeof(std::uint16_t);
    std::size_t first = 0;
    for (; first + block <= out.size(); first += block) {
        const auto halves = copied<std::uint16_t, block>(at + half * first);
        float* const to = out.data() + first;
        for (std::size_t i = 0; i < block; ++i) to[i] = convert(halves[i]);
    }
    for (; first < out.size(); ++first)
        out[first] = convert(little_endian<std::uint16_t>(at + half * first));
}

inline float bfloat16_value(std::uint16_t value) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16);
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

float from_bfloat16(std::uint16_t value) { return bfloat16_value(value); }

float from_float16(std::uint16_t value) { return float16_value(value); }

void read_bytes(const TensorEntry& tensor, std::size_t first, std::span<std::byte> out) {
    if (first > tensor.bytes || out.size() > tensor.bytes - first)
        throw std::out_of_range("bytes beyond the end of tensor " + tensor.name);
    tensor.file->read(tensor.offset + first, out);
}

void to_floats(const TensorEntry& tensor, std::int64_t first, std::span<float> out) {
    const BlockSize unit = block_size(tensor.type);
    const auto count = static_cast<std::int64_t>(out.size());
    if (first < 0 || first > tensor.elements() || count > tensor.elements() - first)
        throw std::out_of_range("elements beyond the end of tensor " + tensor.name);
    if (first % unit.elements != 0 || count % unit.elements != 0)
        throw std::invalid_argument("part of a quantised block of tensor " + tensor.name);
    std::size_t at = stored_bytes(tensor.type, first);
    if (tensor.type == TensorType::f32) return read_bytes(tensor, at, std::as_writable_bytes(out));
    std::array<std::byte, 64 * 1024> room;  // stays in a cache of the core's own
    const std::size_t most = room.size() / unit.bytes * static_cast<std::size_t>(unit.elements);
    while (!out.empty()) {
        const auto part = out.first(std::min(out.size(), most));
        const auto stored = std::span(room).first(
            stored_bytes(tensor.type, static_cast<std::int64_t>(part.size())));
        read_bytes(tensor, at, stored);
        to_floats(tensor.type, stored.data(), part);
        at += stored.size();
        out = out.subspan(part.size());
    }
}

void to_floats(TensorType type, const std::byte* at, std::span<float> out) {
    switch (type) {
        case TensorType::f32:
            if (!out.empty()) std::memcpy(out.data(), at, out.size_bytes());
            return;
        case TensorType::f16:
            return unpack_halves<float16_value>(at, out);
        case TensorType::bf16:
            return unpack_halves<bfloat16_value>(at, out);
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

    std::erase_if(order, [](const TensorEntry* tensor) { return tensor->bytes == 0; });
    std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
        return std::less<>()(std::tie(a->file, a->offset), std::tie(b->file, b->offset));
    });
    for (std::size_t i = 1; i < order.size(); ++i)
        if (order[i]->file == order[i - 1]->file &&
            order[i]->offset < order[i - 1]->offset + order[i - 1]->bytes)
            malformed(file, fmt::format("the tensors {} and {} overlap", shown(order[i - 1]->name),
                                        shown(order[i]->name)));
}

}  // namespace assay::nn
