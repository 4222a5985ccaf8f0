// Seeded draws that are equal on every platform: the standard fixes its engines, but neither its
// distributions nor the last bit of std::log.
#pragma once

#include <cstdint>
#include <random>

namespace assay {

class Dice {
  public:
    explicit Dice(std::uint64_t seed) : engine_(seed) {}

    /// Uniform in [0, n), without the bias of a bare remainder.
    std::uint64_t below(std::uint64_t n) {
        const std::uint64_t fair = UINT64_MAX - UINT64_MAX % n;
        std::uint64_t roll;
        do roll = engine_();
        while (roll >= fair);
        return roll % n;
    }

    /// Uniform in [0, 1), a multiple of 2^-53.
    double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }

    /// True with this probability.
    bool chance(double probability) { return uniform() < probability; }

    /// Exponential with mean 1, by comparisons alone (von Neumann 1951): a first draw x opens a
    /// falling run of draws whose length is odd with probability exp(-x).
    double exponential() {
        for (double whole = 0;; ++whole) {
            const double first = uniform();
            bool odd = true;
            double last = first;
            for (double next; (next = uniform()) < last; last = next) odd = !odd;
            if (odd) return whole + first;
        }
    }

  private:
    std::mt19937_64 engine_;
};

}  // namespace assay
