// How fast samples go in: one commit when a sample begins and one when it ends, as the runner does.
// Run: build/cpu/bin/store_ingest_benchmark
#include <benchmark/benchmark.h>

#include "tests/store/example_rows.hpp"

namespace assay::store::testing {
namespace {

Sample sample_with(std::int64_t metrics, std::int64_t events) {
    Sample sample;
    sample.status = "ok";
    for (std::int64_t i = 0; i < metrics; ++i)
        sample.metrics.push_back({"loss", {{"step", i}}, 1.0 / static_cast<double>(i + 1)});
    for (std::int64_t i = 0; i < events; ++i)
        sample.events.push_back(
            {0.1 * static_cast<double>(i), "commit", static_cast<int>(i % 8), {{"step", i}}});
    return sample;
}

/// Metrics and events of each sample. Reports rows of the table metric per second.
void ingest(benchmark::State& state) {
    Folder folder;
    auto store = Store::open(folder / "r.db", Access::write);
    const auto session = begin(store);
    auto sample = sample_with(state.range(0), state.range(1));
    std::uint64_t seed = 0;
    for (auto _ : state) {
        const auto spec = example_spec(seed++);
        sample.id = store.begin_sample(session, spec, key_of(spec));
        store.finish_sample(sample);
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
    state.counters["bytes_per_sample"] = store.check().bytes / static_cast<double>(seed);
}
BENCHMARK(ingest)
    ->ArgNames({"metrics", "events"})
    ->Args({2, 0})
    ->Args({20, 0})
    ->Args({20, 20})
    ->Args({200, 0})
    ->Args({2000, 0})
    ->Unit(benchmark::kMicrosecond);

void read_back(benchmark::State& state) {
    Folder folder;
    auto store = Store::open(folder / "r.db", Access::write);
    const auto session = begin(store);
    auto sample = sample_with(20, 20);
    for (std::int64_t i = 0; i < state.range(0); ++i) {
        const auto spec = example_spec(static_cast<std::uint64_t>(i));
        sample.id = store.begin_sample(session, spec, key_of(spec));
        store.finish_sample(sample);
    }
    for (auto _ : state) benchmark::DoNotOptimize(store.newest_samples("lazarus/fig8"));
    state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(read_back)->Arg(100)->Arg(1000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace assay::store::testing

BENCHMARK_MAIN();
