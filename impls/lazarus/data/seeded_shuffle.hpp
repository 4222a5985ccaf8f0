// Random choices that are the same on every standard library: its engines are fixed, its
// distributions and std::shuffle are not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace assay::lazarus {

/// Uniform in [0, 1).
inline double uniform(std::mt19937_64& random) {
    return static_cast<double>(random() >> 11) * 0x1p-53;
}

/// Fisher-Yates; the bias of the modulus is below 2^-50 for any vector that fits in memory here.
template <class T>
void seeded_shuffle(std::vector<T>& items, std::mt19937_64& random) {
    for (std::size_t i = items.size(); i > 1; --i) {
        std::swap(items[i - 1], items[static_cast<std::size_t>(random() % i)]);
    }
}

/// An engine for one stream of choices: equal arguments, equal stream.
inline std::mt19937_64 seeded_engine(std::uint64_t seed, std::uint64_t stream,
                                     std::uint64_t substream) {
    std::seed_seq words{
        static_cast<std::uint32_t>(seed),      static_cast<std::uint32_t>(seed >> 32),
        static_cast<std::uint32_t>(stream),    static_cast<std::uint32_t>(stream >> 32),
        static_cast<std::uint32_t>(substream), static_cast<std::uint32_t>(substream >> 32)};
    return std::mt19937_64(words);
}

}  // namespace assay::lazarus
