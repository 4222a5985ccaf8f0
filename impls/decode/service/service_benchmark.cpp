// What an engine's own process costs: tokens by hashes, which take no time, one step after the
// other, in this process and through messages.
//
//     build/cpu/bin/decode_service_benchmark
#include <benchmark/benchmark.h>

#include "impls/decode/service/process_engines.hpp"

namespace assay::decode {
namespace {

constexpr int vocabulary = 32000, tokens = 256;

EngineModel model() { return modelled_models({.vocabulary = vocabulary, .cost = {}}); }

BatchRequest request(int number) { return {.prompt = {number, 1, 2}, .max_tokens = tokens}; }

void count(benchmark::State& state) {
    state.SetItemsProcessed(state.iterations() * state.range(0) * tokens);
}

EngineSettings settings(const benchmark::State& state) {
    return {.weights = "1", .blocks = static_cast<int>(state.range(0)) * (tokens / 16 + 2)};
}

void in_this_process(benchmark::State& state) {
    BatchEngine engine(std::make_unique<service::ServedBackEnd>(
                           model().back_end(settings(state), std::string("1")), std::nullopt),
                       {});
    StepReport report;
    for (auto _ : state) {
        for (int i = 0; i < state.range(0); ++i) engine.submit(request(i));
        while (!engine.idle()) {
            report.clear();
            engine.step(report);
        }
    }
    count(state);
}
BENCHMARK(in_this_process)->Arg(1)->Arg(32)->UseRealTime();

void in_its_own(benchmark::State& state) {
    ProcessEngines processes(engine_role(model()));
    processes.engines.start(settings(state));
    Pool& pool = processes.engines.pool();
    for (auto _ : state) {
        std::vector<Number> requests;
        for (int i = 0; i < state.range(0); ++i)
            requests.push_back(pool.ask({.request = request(i)}));
        while (pool.open() > 0) processes.engines.hear();
        for (const Number each : requests) pool.forget(each);
    }
    count(state);
}
BENCHMARK(in_its_own)->Arg(1)->Arg(32)->UseRealTime();

}  // namespace
}  // namespace assay::decode

BENCHMARK_MAIN();
