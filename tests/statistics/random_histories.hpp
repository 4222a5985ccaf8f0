// Histories that a test and another program can both make from a few words: seeded noise whose bits
// do not depend on a library.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace assay::statistics::testing {

/// SplitMix64; normal to within the sum of twelve uniform numbers (Irwin and Hall).
class Noise {
  public:
    explicit Noise(std::uint64_t seed) : state_(seed) {}
    double uniform() {
        std::uint64_t z = state_ += 0x9E3779B97F4A7C15u;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
    }
    double normal() {
        double sum = 0;
        for (int i = 0; i < 12; ++i) sum += uniform();
        return sum - 6;
    }

  private:
    std::uint64_t state_;
};

/// level(i) * (1 + spread * normal).
inline std::vector<double> noisy_history(std::uint64_t seed, int count,
                                         const std::function<double(int)>& level,
                                         double spread = 0.01) {
    Noise noise(seed);
    std::vector<double> values;
    for (int i = 0; i < count; ++i) values.push_back(level(i) * (1 + spread * noise.normal()));
    return values;
}

using Shape = std::vector<double>(std::uint64_t seed);

inline std::vector<double> step(std::uint64_t seed) {
    return noisy_history(seed, 60, [](int i) { return i < 37 ? 100.0 : 105.0; });
}
inline std::vector<double> two_steps(std::uint64_t seed) {
    return noisy_history(seed, 120, [](int i) { return i < 40 ? 100.0 : i < 75 ? 108.0 : 96.0; });
}
inline std::vector<double> no_change(std::uint64_t seed) {
    return noisy_history(seed, 100, [](int) { return 100.0; });
}
inline std::vector<double> outlier(std::uint64_t seed) {
    return noisy_history(seed, 80, [](int i) { return i == 31 ? 130.0 : 100.0; });
}
inline std::vector<double> drift(std::uint64_t seed) {
    return noisy_history(seed, 90, [](int i) { return 100.0 + 0.1 * i; });
}
inline std::vector<double> small_step(std::uint64_t seed) {
    return noisy_history(seed, 100, [](int i) { return i < 50 ? 100.0 : 101.5; });
}
inline std::vector<double> noisy_step(std::uint64_t seed) {
    return noisy_history(
        seed, 150, [](int i) { return i < 90 ? 100.0 : 110.0; }, 0.05);
}
inline std::vector<double> brief(std::uint64_t seed) {
    return noisy_history(seed, 12, [](int i) { return i < 7 ? 100.0 : 105.0; });
}
inline std::vector<double> extended(std::uint64_t seed) {
    return noisy_history(seed, 400, [](int i) {
        return i < 133 ? 100.0 : i < 290 ? 103.0 : 101.0;
    });
}

}  // namespace assay::statistics::testing
