// What the runner adds to a sample: process, pipes, scratch folder, and a session with its
// database.
#include <benchmark/benchmark.h>

#include <cstring>

#include "suite/runner/runner.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/runner/dummy_system.hpp"

namespace {

using namespace assay;

/// One sample that does next to nothing, in a fresh process.
void fresh_process(benchmark::State& state) {
    SampleSpec spec;
    spec.experiment = "dummy/sum";
    spec.variant = "a";
    spec.axes = {{"n", std::int64_t{2}}, {"kind", std::string("plain")}};
    for (auto _ : state) benchmark::DoNotOptimize(runner::run_once(spec, [](const auto&) {}));
}
BENCHMARK(fresh_process)->Unit(benchmark::kMillisecond)->UseRealTime();

/// A sample of 20,000 events, in a session; the time is per sample.
void event_storm(benchmark::State& state) {
    const testing::TemporaryFolder folder;
    const Registry registry = testing::make_dummy_registry();
    store::Store store = store::Store::open(folder / "results.db", store::Access::write);
    runner::Request request;
    request.patterns = {"dummy/behave"};
    request.axes["how"] = {std::string("storm")};
    request.rounds = 1;
    request.fresh = true;
    request.lock = false;
    const auto plan = runner::make_plan(registry, request);
    for (auto _ : state) {
        const auto outcome = runner::execute(registry, plan, request, store, {});
        if (outcome.samples.at(0).events.size() != 20'000) state.SkipWithError("events are lost");
    }
}
BENCHMARK(event_storm)->Unit(benchmark::kMillisecond)->UseRealTime();

/// A whole session of `range` samples; the time is per sample.
void session(benchmark::State& state) {
    const testing::TemporaryFolder folder;
    const Registry registry = testing::make_dummy_registry();
    store::Store store = store::Store::open(folder / "results.db", store::Access::write);
    runner::Request request;
    request.patterns = {"dummy/sum"};
    request.axes["n"] = {std::int64_t{2}};
    request.rounds = static_cast<int>(state.range(0) / 3);
    request.fresh = true;
    const auto plan = runner::make_plan(registry, request);
    for (auto _ : state) {
        const auto outcome = runner::execute(registry, plan, request, store, {});
        for (const auto& sample : outcome.samples)
            if (sample.status != "ok") state.SkipWithError(sample.reason.c_str());
    }
    state.counters["per_sample_s"] = benchmark::Counter(
        static_cast<double>(plan.samples.size()),
        benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(session)->Arg(3)->Arg(30)->Arg(300)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace

int main(int argc, char** argv) {
    if (argc == 2 && std::strcmp(argv[1], "sample") == 0)
        return runner::sample_main(testing::make_dummy_registry());
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
