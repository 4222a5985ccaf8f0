#include "impls/nn/hashes.hpp"

#include <cstring>

namespace assay::nn {
namespace {

// FNV-1a over 64-bit words with a final mix: fast enough for megabytes, and portable.
constexpr std::uint64_t fnv_prime = 0x100000001b3ULL;

std::uint64_t hash_words(const void* data, std::size_t size, std::uint64_t hash) {
    const auto* bytes = static_cast<const unsigned char*>(data);
    while (size >= 8) {
        std::uint64_t word;
        std::memcpy(&word, bytes, 8);
        hash = (hash ^ word) * fnv_prime;
        hash ^= hash >> 29;
        bytes += 8;
        size -= 8;
    }
    for (; size > 0; --size) hash = (hash ^ *bytes++) * fnv_prime;
    return hash;
}

}  // namespace

// The same over eight lanes, word i in lane i mod 8, the lanes hashed in the end: as sensitive to
// content and order, and several times as fast, since no word waits for the one before it.
std::uint64_t hash_bytes(const void* data, std::size_t size, std::uint64_t hash) {
    constexpr std::size_t lanes = 8;
    std::uint64_t lane[lanes];
    for (std::size_t i = 0; i < lanes; ++i) lane[i] = hash + i;
    const auto* bytes = static_cast<const unsigned char*>(data);
    for (; size >= sizeof lane; bytes += sizeof lane, size -= sizeof lane) {
        std::uint64_t word[lanes];
        std::memcpy(word, bytes, sizeof word);
        for (std::size_t i = 0; i < lanes; ++i) {
            lane[i] = (lane[i] ^ word[i]) * fnv_prime;
            lane[i] ^= lane[i] >> 29;
        }
    }
    return hash_words(bytes, size, hash_words(lane, sizeof lane, hash));
}

std::uint64_t hash_text(std::string_view text, std::uint64_t seed) {
    return hash_words(text.data(), text.size(), hash_start ^ (seed * fnv_prime));
}

}  // namespace assay::nn
