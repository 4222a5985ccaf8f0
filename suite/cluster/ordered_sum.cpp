// Sums block by block, so that the accumulators stay in the first-level cache and `out` may alias a
// part: a block is written only after all parts of it were read.
#include "suite/cluster/ordered_sum.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace assay::cluster {
namespace {

constexpr std::size_t kBlock = 1024;

float float_of_bf16(std::uint16_t bits) {
    const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16;
    float value;
    std::memcpy(&value, &wide, sizeof value);
    return value;
}

std::uint16_t bf16_of_float(float value) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    if (value != value)
        return static_cast<std::uint16_t>((bits >> 16) | 0x40);  // stays a quiet NaN
    return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

// `Wide` is what sums are kept in; load and store convert between it and the stored element.
template <class Element, class Wide, class Load, class Store>
void sum_blocks(std::span<const void* const> parts, std::size_t count, void* out, Load load,
                Store store) {
    std::array<Wide, kBlock> sums;
    for (std::size_t begin = 0; begin < count; begin += kBlock) {
        const std::size_t n = std::min(kBlock, count - begin);
        const auto* first = static_cast<const Element*>(parts[0]) + begin;
        for (std::size_t i = 0; i < n; ++i) sums[i] = load(first[i]);
        for (const void* part : parts.subspan(1)) {
            const auto* elements = static_cast<const Element*>(part) + begin;
            for (std::size_t i = 0; i < n; ++i)
                sums[i] = static_cast<Wide>(sums[i] + load(elements[i]));
        }
        auto* result = static_cast<Element*>(out) + begin;
        for (std::size_t i = 0; i < n; ++i) result[i] = store(sums[i]);
    }
}

template <class Element, class Wide = Element>
void sum_plain(std::span<const void* const> parts, std::size_t count, void* out) {
    sum_blocks<Element, Wide>(
        parts, count, out, [](Element e) { return static_cast<Wide>(e); },
        [](Wide w) { return static_cast<Element>(w); });
}

}  // namespace

void ordered_sum(std::span<const void* const> parts, std::size_t count, Dtype dtype, void* out) {
    if (parts.empty()) throw std::invalid_argument("ordered_sum: no parts to add");
    switch (dtype) {
        case Dtype::u8:
            return sum_plain<std::uint8_t>(parts, count, out);
        // Unsigned inside: overflow wraps instead of being undefined.
        case Dtype::i64:
            return sum_plain<std::int64_t, std::uint64_t>(parts, count, out);
        case Dtype::f32:
            return sum_plain<float>(parts, count, out);
        case Dtype::f64:
            return sum_plain<double>(parts, count, out);
        case Dtype::bf16:
            return sum_blocks<std::uint16_t, float>(parts, count, out, float_of_bf16,
                                                    bf16_of_float);
    }
    throw std::invalid_argument("ordered_sum: unknown dtype");
}

}  // namespace assay::cluster
