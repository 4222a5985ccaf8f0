// Random draws that are a function of a seed and a position only: the same bits on every machine,
// which the distributions of the standard library do not promise.
#pragma once

#include <cstdint>

namespace assay::statistics {

/// splitmix64 (Steele, Lea, Flood 2014): a bijection of 64-bit words that passes for random.
constexpr std::uint64_t scramble(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

class CounterDraws {
  public:
    explicit CounterDraws(std::uint64_t seed) : state_(scramble(seed)) {}

    std::uint64_t next() { return scramble(state_++); }
    /// Uniform over 0 … n-1, up to a bias below n / 2^32.
    std::uint32_t index(std::uint32_t n) {
        return static_cast<std::uint32_t>(((next() >> 32) * n) >> 32);
    }
    /// Uniform in the open interval (0, 1).
    double uniform() { return (static_cast<double>(next() >> 12) + 0.5) * 0x1p-52; }

  private:
    std::uint64_t state_;
};

}  // namespace assay::statistics
