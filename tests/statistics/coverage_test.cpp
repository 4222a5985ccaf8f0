// How often the intervals hold the truth, by simulation: normal, lognormal and bimodal data.
// Nominal 95 % must cover at least 93 %; an A/A comparison must not exclude 1 more often than in 7
// %.
#include <gtest/gtest.h>

#include <cstdio>

#include "suite/measure/statistics/median_interval.hpp"
#include "suite/measure/statistics/ratio.hpp"
#include "tests/statistics/random_samples.hpp"

namespace assay::statistics {
namespace {

constexpr Kind kKinds[] = {Kind::normal, Kind::lognormal, Kind::bimodal};
constexpr double kLeast = 0.93;

/// Share of `samples` simulations in which holds(draws) is true.
template <class Holds>
double share(int samples, std::uint64_t seed, Holds holds) {
    CounterDraws draws(seed);
    int held = 0;
    for (int i = 0; i < samples; ++i) held += holds(draws);
    return double(held) / samples;
}

bool inside(double value, const Interval& interval) {
    return interval.low <= value && value <= interval.high;
}

/// Each kind of its own: the same draws would make normal and lognormal data agree in every rank.
std::uint64_t seed_of(Kind kind, int n) {
    return 10 * static_cast<std::uint64_t>(n) + static_cast<std::uint64_t>(kind);
}

double median_coverage(Kind kind, int n, int samples) {
    return share(samples, seed_of(kind, n), [&](CounterDraws& draws) {
        return inside(kMedianOfEach, median_interval(sample(kind, n, draws)));
    });
}

void print(const char* what, Kind kind, int n, double covered) {
    std::printf("%-13s %-9s n %4d: %.4f\n", what, name(kind), n, covered);
}

TEST(Coverage, OfMedianIntervals) {
    for (int n : {smallest_n_for_interval, 6, 10, 20, 45, 46, 61, 200})
        for (Kind kind : kKinds) {
            // Of the smallest number the whole range covers 93.75 %: that needs a closer look.
            const int samples = n == smallest_n_for_interval ? 20000 : 3000;
            const double covered = median_coverage(kind, n, samples);
            print("median", kind, n, covered);
            EXPECT_GE(covered, kLeast) << name(kind) << ", " << n;
        }
}

double ratio_coverage(bool paired, Kind kind, int n_a, int n_b, double truth, int samples) {
    return share(samples, seed_of(kind, 100 * n_a + n_b), [&](CounterDraws& draws) {
        const auto a = sample(kind, n_a, draws), b = scaled(sample(kind, n_b, draws), truth);
        return inside(truth, (paired ? paired_ratio(a, b) : unpaired_ratio(a, b)).interval);
    });
}

TEST(Coverage, OfPairedRatios) {
    for (const auto& [n, samples] : {std::pair{5, 20000}, {8, 2000}, {10, 2000}, {46, 600}})
        for (Kind kind : kKinds) {
            const double covered = ratio_coverage(true, kind, n, n, 1.1, samples);
            print("paired", kind, n, covered);
            EXPECT_GE(covered, kLeast) << name(kind) << ", " << n;
        }
}

TEST(Coverage, OfUnpairedRatios) {
    for (const auto& [n_a, n_b] : {std::pair{3, 4}, {4, 4}, {5, 5}, {5, 12}, {10, 10}, {30, 40}})
        for (Kind kind : kKinds) {
            const double covered =
                ratio_coverage(false, kind, n_a, n_b, 1.1, n_a == 3 ? 10000 : 3000);
            print("unpaired", kind, 100 * n_a + n_b, covered);
            EXPECT_GE(covered, kLeast) << name(kind) << ", " << n_a << " and " << n_b;
        }
    // Where counting arrangements ends and the normal approximation begins.
    for (Kind kind : kKinds)
        EXPECT_GE(ratio_coverage(false, kind, 120, 150, 1.1, 500), kLeast) << name(kind);
}

TEST(FalseAlarms, OfIntervalsThatExcludeOneInEqualSamples) {
    for (bool paired : {true, false})
        for (int n : {5, 10})
            for (Kind kind : kKinds) {
                const double alarms =
                    1 - ratio_coverage(paired, kind, n, n, 1, n == 5 ? 10000 : 3000);
                print(paired ? "A/A paired" : "A/A unpaired", kind, n, alarms);
                EXPECT_LE(alarms, 0.07) << name(kind) << ", " << n;
            }
}

}  // namespace
}  // namespace assay::statistics
