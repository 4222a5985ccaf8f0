// A 64-bit hash of bytes that is the same everywhere and fast enough for hundreds of megabytes. It
// tells damage and difference, not malice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace assay::nn {

constexpr std::uint64_t hash_start = 0xcbf29ce484222325ULL;

/// Goes on from `hash` (hash_start, or the result for what came before). Depends on content and
/// order, and on where the pieces were cut.
std::uint64_t hash_bytes(const void* data, std::size_t size, std::uint64_t hash = hash_start);

/// Of a short text, for instance to seed a generator by a name.
std::uint64_t hash_text(std::string_view text, std::uint64_t seed);

}  // namespace assay::nn
