// What a comparison costs, per row.
//
//     build/cpu/bin/statistics_benchmark
#include <benchmark/benchmark.h>

#include "suite/measure/statistics/bimodality.hpp"
#include "suite/measure/statistics/ratio.hpp"
#include "tests/statistics/random_samples.hpp"

namespace {

using namespace assay::statistics;

struct Sides {
    CounterDraws draws{1};
    std::vector<double> a, b;
    explicit Sides(benchmark::State& state)
        : a(sample(Kind::lognormal, static_cast<int>(state.range(0)), draws)),
          b(scaled(sample(Kind::lognormal, static_cast<int>(state.range(0)), draws), 1.05)) {}
};

void paired(benchmark::State& state) {
    const Sides sides(state);
    for (auto _ : state) benchmark::DoNotOptimize(paired_ratio(sides.a, sides.b));
}
BENCHMARK(paired)->Arg(10)->Arg(100)->Arg(1000)->Arg(100'000)->Unit(benchmark::kMicrosecond);

void unpaired(benchmark::State& state) {
    const Sides sides(state);
    for (auto _ : state) benchmark::DoNotOptimize(unpaired_ratio(sides.a, sides.b));
}
BENCHMARK(unpaired)->Arg(10)->Arg(1000)->Arg(100'000)->Arg(1'000'000)->Unit(
    benchmark::kMicrosecond);

void two_clusters(benchmark::State& state) {
    const Sides sides(state);
    for (auto _ : state) benchmark::DoNotOptimize(bimodality(sides.a));
}
BENCHMARK(two_clusters)->Arg(10)->Arg(1000)->Arg(100'000)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
