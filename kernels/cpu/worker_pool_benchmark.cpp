// What it costs to share out a region: no work, a few items, again and again.
#include <benchmark/benchmark.h>

#include "kernels/cpu/worker_pool.hpp"

namespace assay::kernels {
namespace {

void empty_region(benchmark::State& state) {
    WorkerPool pool(static_cast<int>(state.range(0)));
    const int items = static_cast<int>(state.range(1));
    for ([[maybe_unused]] auto iteration : state)
        pool.run(items, [](int item) { benchmark::DoNotOptimize(item); });
}
BENCHMARK(empty_region)
    ->ArgNames({"threads", "items"})
    ->ArgsProduct({{1, allowed_cores()}, {2, 16}})
    ->UseRealTime();

}  // namespace
}  // namespace assay::kernels

BENCHMARK_MAIN();
