// A hash of a counter, for draws that are a function of where they are made and not of what was
// drawn before.
#pragma once

#include <cstdint>

namespace assay::nn {

/// splitmix64 (Steele, Lea, Flood 2014): a bijection of 64-bit words that passes for random.
inline std::uint64_t counter_hash(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

}  // namespace assay::nn
