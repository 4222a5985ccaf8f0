// Seeded draws that are equal on every platform: the standard fixes its engines, but neither its
// distributions nor the last bit of std::log.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <random>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "suite/measure/statistics/counter_draws.hpp"

namespace assay {

template <class Engine>
class DiceOf {
  public:
    explicit DiceOf(std::uint64_t seed) : engine_(seed) {}

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

    double between(double low, double high) { return low + (high - low) * uniform(); }

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
    Engine engine_;
};

using Dice = DiceOf<std::mt19937_64>;

/// Cheap to begin: a hash of a counter (splitmix64).
class CounterEngine {
  public:
    explicit CounterEngine(std::uint64_t seed) : counter_(seed) {}
    std::uint64_t operator()() {
        return statistics::scramble(std::exchange(counter_, counter_ + 0x9e3779b97f4a7c15));
    }

  private:
    std::uint64_t counter_;
};

/// Draws told apart by what they are for: the n-th of a key hangs on the seed, the key and n, and
/// on no other draw. What happens to one worker leaves what is drawn for another as it is.
class KeyedDice {
  public:
    explicit KeyedDice(std::uint64_t seed) : seed_(seed) {}

    /// The next draws for this `kind`, of this worker, epoch, step or the like.
    DiceOf<CounterEngine> next(std::string_view kind, std::initializer_list<std::int64_t> of = {}) {
        std::uint64_t key = seed_;
        const auto add = [&](std::uint64_t part) { key = statistics::scramble(key + part); };
        for (const char letter : kind) add(static_cast<unsigned char>(letter));
        for (const std::int64_t number : of) add(static_cast<std::uint64_t>(number));
        add(counts_[key]++);
        return DiceOf<CounterEngine>(key);
    }

  private:
    std::uint64_t seed_;
    std::unordered_map<std::uint64_t, std::uint64_t> counts_;  ///< of each key
};

}  // namespace assay
