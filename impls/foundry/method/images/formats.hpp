// The containers that read_image() tells apart, and reading numbers of them: little-endian, at any
// alignment, never past the end.
#pragma once

#include <fmt/format.h>

#include <cstring>
#include <type_traits>

#include "impls/foundry/method/images/image.hpp"

namespace assay::foundry {

/// Whether `bytes` at `offset` lie in so many; no sum overflows.
constexpr bool lies_within(std::uint64_t size, std::uint64_t offset, std::uint64_t bytes) {
    return offset <= size && bytes <= size - offset;
}

/// A part of a container; no bytes are anywhere. ImageError names both: "truncated cubin: section
/// table is …".
inline std::span<const std::byte> part_of(std::span<const std::byte> container,
                                          std::uint64_t offset, std::uint64_t bytes,
                                          std::string_view container_name, std::string_view what) {
    if (bytes == 0) return {};
    if (!lies_within(container.size(), offset, bytes))
        throw ImageError(fmt::format("truncated {}: {} is {} bytes at {}, only {} bytes are there",
                                     container_name, what, bytes, offset, container.size()));
    return container.subspan(offset, bytes);
}

/// A copy of what lies at `offset`. ImageError past the end.
template <class T>
T copy_at(std::span<const std::byte> bytes, std::uint64_t offset) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (!lies_within(bytes.size(), offset, sizeof(T)))
        throw ImageError(fmt::format("cut short: {} bytes at {}, only {} bytes are there",
                                     sizeof(T), offset, bytes.size()));
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
}

struct Cubin {
    std::uint64_t bytes = 0;
    std::uint32_t sm = 0;
    std::vector<Kernel> kernels;
};
bool begins_as_elf(std::span<const std::byte>);
Cubin read_cubin(std::span<const std::byte>);

bool begins_as_fatbin(std::span<const std::byte>);
Image read_fatbin(std::span<const std::byte>);

/// What a fatbin's entry holds compressed.
enum class Compression : std::uint8_t { zstd, lz4 };
ASSAY_NAMES(Compression, zstd, (lz4, "LZ4"))
/// `bytes` of them. ImageError: it is not exactly that, or not such a stream.
std::vector<std::byte> decompress(std::span<const std::byte> stored, Compression,
                                  std::uint64_t bytes);

}  // namespace assay::foundry
