// Hashes of counters, for draws that are a function of where they are made, and of bytes, which
// tell damage and difference, not malice. Digests of hash_bytes() are in checkpoints and in keys of
// results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace assay::nn {

/// splitmix64 (Steele, Lea, Flood 2014): a bijection of 64-bit words that passes for random.
inline std::uint64_t counter_hash(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

constexpr std::uint64_t hash_start = 0xcbf29ce484222325ULL;

/// A hash that is the same everywhere and fast enough for hundreds of megabytes. Goes on from
/// `hash` (hash_start, or the result for what came before). Depends on content and order, and on
/// where the pieces were cut.
std::uint64_t hash_bytes(const void* data, std::size_t size, std::uint64_t hash = hash_start);

/// Of a short text, for instance to seed a generator by a name.
std::uint64_t hash_text(std::string_view text, std::uint64_t seed);

}  // namespace assay::nn
